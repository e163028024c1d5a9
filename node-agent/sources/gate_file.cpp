#include "node-agent/sources/gate_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace chipweave::agent {
namespace {

constexpr int kTries = 5;
// Of one length, so that one write replaces the other.
constexpr std::string_view kOpen = "open  \n";
constexpr std::string_view kClosed = "closed\n";

Error file_error(const std::string& path) {
  return make_error(Errc::unavailable, path + ": " + std::strerror(errno));
}

}  // namespace

Result<GateFile> GateFile::open(const std::string& path) {
  GateFile out(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!out.file_->valid()) return file_error(path);
  // A reader holds the lock for a moment when it finds out that no process has it.
  for (int left = kTries; ::flock(out.file_->get(), LOCK_EX | LOCK_NB) != 0; --left) {
    if (errno != EWOULDBLOCK) return file_error(path);
    if (left == 1)
      return make_error(Errc::conflict, path + " is held by another chipweave-device-plugin");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (auto ok = out.write(false); !ok) return std::move(ok).error();
  return out;
}

Result<void> GateFile::write(bool open) {
  const std::string_view text = open ? kOpen : kClosed;
  // The times last: a watch of the folder tells that the attributes have changed, but not that an
  // open file was written to.
  if (::pwrite(file_->get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::ftruncate(file_->get(), static_cast<off_t>(text.size())) == 0 &&
      ::futimens(file_->get(), nullptr) == 0)
    return {};
  return file_error("the gate's file");
}

bool gate_is_open(const std::string& path) {
  const io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return false;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return false;
  char text[kOpen.size()] = {};
  return ::pread(file.get(), text, sizeof text, 0) == static_cast<ssize_t>(sizeof text) &&
         std::string_view(text, sizeof text) == kOpen;
}

}  // namespace chipweave::agent
