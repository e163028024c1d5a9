#include "scheduler-plugin/crash_file.hpp"

#include <charconv>

#include "common/base/foreign_text.hpp"
#include "common/io/files.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxReasonBytes = 1000;
constexpr std::size_t kMaxFileBytes = 4096;

}  // namespace

Result<CrashFile::Earlier> CrashFile::read() const {
  if (path_.empty()) return Earlier{};
  const auto text = io::read_file(path_, kMaxFileBytes);
  if (!text) {
    if (text.error().code == Errc::not_found) return Earlier{};
    return text.error();
  }
  Earlier earlier;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, earlier.count);
  if (error != std::errc() || rest == end || *rest != '\n') {
    return make_error(Errc::invalid_argument,
                      path_ + " was not written by chipweave-scheduler; remove it");
  }
  const std::string_view line(rest + 1, static_cast<std::size_t>(end - rest - 1));
  earlier.last = printable(line.substr(0, line.find('\n')));
  return earlier;
}

Result<void> CrashFile::add(std::string_view time, std::string_view what) const {
  if (path_.empty()) return {};
  const auto earlier = read();
  const std::uint64_t count = earlier ? earlier->count + 1 : 1;
  return io::write_file_atomically(path_, std::to_string(count) + "\n" + std::string(time) + " " +
                                              printable(what.substr(0, kMaxReasonBytes)) + "\n");
}

}  // namespace chipweave::sched
