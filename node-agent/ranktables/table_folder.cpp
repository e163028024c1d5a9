#include "node-agent/ranktables/table_folder.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/mindcluster/pod/job_table.hpp"
#include "common/io/files.hpp"

namespace chipweave::agent {
namespace {

using codec::mindcluster::kJobTableKey;
using codec::mindcluster::kTableVersionKey;

constexpr std::size_t kMaxFolderName = 255;  // NAME_MAX
constexpr std::size_t kMaxVersionBytes = 64;
constexpr std::size_t kMaxRecordBytes = std::size_t{256} << 10U;
constexpr std::size_t kMaxRecords = 16384;
constexpr const char* kRecords = ".chipweave";
constexpr const char* kNew = "new";  // no name of a record: it has no dot
constexpr mode_t kFileBits = 0644;
constexpr mode_t kFolderBits = 0755;
constexpr mode_t kRecordsBits = 0700;
constexpr std::string_view kTableWord = "table ";
constexpr std::string_view kPodWord = "pod ";

Error in_the_way(const std::string& path, const char* wanted) {
  return make_error(Errc::conflict, std::string("is not a ") + wanted + "; remove it")
      .in("file " + path);
}

// Whether there is such a file. Errors: it is something else.
Result<bool> is_there(int folder, const std::string& file, const std::string& path) {
  struct stat info {};
  if (::fstatat(folder, file.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return false;
    return io::system_error(path, "read", errno);
  }
  if (!S_ISREG(info.st_mode)) return in_the_way(path, "regular file");
  return true;
}

// nullopt: there is no such file. It is opened only once it is known to be a regular one: to open
// a device can have an effect.
Result<std::optional<std::string>> read_regular(int folder, const std::string& file,
                                                const std::string& path, std::size_t max_bytes) {
  const io::Descriptor handle(::openat(folder, file.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.valid()) {
    if (errno == ENOENT) return std::optional<std::string>();
    return io::system_error(path, "open", errno);
  }
  struct stat info {};
  if (::fstat(handle.get(), &info) != 0) return io::system_error(path, "read", errno);
  if (!S_ISREG(info.st_mode)) return in_the_way(path, "regular file");
  const std::string same = "/proc/self/fd/" + std::to_string(handle.get());
  const io::Descriptor opened(::open(same.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened.valid()) return io::system_error(path, "open", errno);
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > max_bytes) {
    return make_error(Errc::limit_exceeded, "larger than " + std::to_string(max_bytes) + " bytes")
        .in("file " + path);
  }
  std::string out(size, '\0');
  std::size_t used = 0;
  while (used < size) {
    const ssize_t n = ::read(opened.get(), out.data() + used, size - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io::system_error(path, "read", errno);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
  }
  out.resize(used);
  return std::optional(std::move(out));
}

Result<void> open_below(int parent, const char* name, const std::string& path, io::Descriptor& to) {
  to.adopt(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (to.valid()) return {};
  // Of a link with O_DIRECTORY Linux says ENOTDIR.
  if (errno == ENOTDIR || errno == ELOOP) return in_the_way(path, "folder");
  return io::system_error(path, "open", errno);
}

Result<void> open_base(const std::string& path, io::Descriptor& to) {
  to.adopt(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!to.valid()) return io::system_error(path, "open", errno);
  return {};
}

// Names come from table_folder_name() or from our own records.
bool is_usable(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

Result<std::string> table_folder_name(const std::string& ns, const std::string& job) {
  if (!is_dns_label(ns))
    return make_error(Errc::invalid_argument, in_quotes(ns) + " is not the name of a namespace");
  if (!is_dns_subdomain(job)) {
    return make_error(Errc::invalid_argument,
                      "the job's name " + in_quotes(job) +
                          " is not a DNS name (lower-case letters, digits, '-' and '.')");
  }
  std::string out = ns + "." + job;
  if (out.size() > kMaxFolderName) {
    return make_error(Errc::limit_exceeded, in_quotes(out) + " is longer than " +
                                                std::to_string(kMaxFolderName) +
                                                " bytes, the most for a folder");
  }
  return out;
}

std::optional<std::pair<std::string, std::string>> parts_of_folder_name(const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  std::pair parts{name.substr(0, dot), name.substr(dot + 1)};
  if (!table_folder_name(parts.first, parts.second)) return std::nullopt;
  return parts;
}

Result<void> TableFolder::prepare() const {
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (failed) return io::system_error(path_, "make the folder", failed.value());
  io::Descriptor records(-1);
  if (auto ok = open_records(records); !ok) return ok;
  if (::unlinkat(records.get(), kNew, 0) != 0 && errno != ENOENT)
    return io::system_error(path_of(kRecords) + "/" + kNew, "delete", errno);
  return {};
}

Result<std::vector<std::string>> TableFolder::recorded() const {
  auto names = io::folder_names(path_of(kRecords), kMaxRecords);
  if (names) std::erase_if(*names, [](const auto& name) { return !parts_of_folder_name(name); });
  return names;
}

Result<TableFolder::Contents> TableFolder::read(const std::string& name) const {
  io::Descriptor folder(-1);
  if (auto ok = open_folder(name, Missing::fail, folder); !ok) {
    if (ok.error().code == Errc::not_found) return Contents{};
    return std::move(ok).error();
  }
  const std::string path = path_of(name) + "/";
  auto table = read_regular(folder.get(), kJobTableKey, path + kJobTableKey, kMaxTableBytes);
  if (!table) return std::move(table).error();
  auto version =
      read_regular(folder.get(), kTableVersionKey, path + kTableVersionKey, kMaxVersionBytes);
  if (!version) return std::move(version).error();
  return Contents{std::move(*table), std::move(*version)};
}

Result<void> TableFolder::write(const std::string& name, const char* file,
                                const std::string& text) const {
  io::Descriptor folder(-1);
  if (auto ok = open_folder(name, Missing::make, folder); !ok) return ok;
  return replace(folder, file, text, path_of(name) + "/" + file);
}

Result<void> TableFolder::remove(const std::string& name) const {
  io::Descriptor folder(-1);
  if (auto ok = open_folder(name, Missing::fail, folder); !ok)
    return ok.error().code == Errc::not_found ? Result<void>() : ok;
  for (const char* file : {kTableVersionKey, kJobTableKey}) {
    const std::string path = path_of(name) + "/" + file;
    const auto there = is_there(folder.get(), file, path);
    if (!there) return there.error();
    if (*there && ::unlinkat(folder.get(), file, 0) != 0 && errno != ENOENT)
      return io::system_error(path, "delete", errno);
  }
  io::Descriptor base(-1);
  if (auto ok = open_base(path_, base); !ok) return ok;
  if (::unlinkat(base.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ||
      errno == ENOTEMPTY || errno == EEXIST)
    return {};
  return io::system_error(path_of(name), "delete", errno);
}

TableFolder::Record TableFolder::record(const std::string& name) const {
  Record out;
  io::Descriptor records(-1);
  if (const auto ok = open_records(records); !ok) return out;
  const auto text =
      read_regular(records.get(), name, path_of(kRecords) + "/" + name, kMaxRecordBytes);
  if (!text || !*text) return out;
  for (const std::string_view line : split(**text, '\n')) {
    if (line.starts_with(kTableWord)) out.tables.emplace_back(line.substr(kTableWord.size()));
    if (line.starts_with(kPodWord)) out.pods.emplace(line.substr(kPodWord.size()));
  }
  return out;
}

Result<void> TableFolder::keep(const std::string& name, const Record& record) const {
  std::string text;
  for (const std::string& table : record.tables) text.append(kTableWord).append(table) += '\n';
  for (const std::string& pod : record.pods) text.append(kPodWord).append(pod) += '\n';
  io::Descriptor records(-1);
  if (auto ok = open_records(records); !ok) return ok;
  return replace(records, name, text, path_of(kRecords) + "/" + name);
}

Result<void> TableFolder::forget(const std::string& name) const {
  io::Descriptor records(-1);
  if (auto ok = open_records(records); !ok) return ok;
  if (::unlinkat(records.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return io::system_error(path_of(kRecords) + "/" + name, "delete", errno);
}

Result<void> TableFolder::open_folder(const std::string& name, Missing missing,
                                      io::Descriptor& to) const {
  if (!is_usable(name))
    return make_error(Errc::invalid_argument, in_quotes(name) + " is not a folder");
  io::Descriptor base(-1);
  if (auto ok = open_base(path_, base); !ok) return ok;
  const bool made =
      missing == Missing::make && ::mkdirat(base.get(), name.c_str(), kFolderBits) == 0;
  if (missing == Missing::make && !made && errno != EEXIST)
    return io::system_error(path_of(name), "make the folder", errno);
  if (auto ok = open_below(base.get(), name.c_str(), path_of(name), to); !ok) return ok;
  if (made && ::fchmod(to.get(), kFolderBits) != 0)  // whatever the umask is
    return io::system_error(path_of(name), "make the folder", errno);
  return {};
}

Result<void> TableFolder::open_records(io::Descriptor& to) const {
  io::Descriptor base(-1);
  if (auto ok = open_base(path_, base); !ok) return ok;
  if (::mkdirat(base.get(), kRecords, kRecordsBits) != 0 && errno != EEXIST)
    return io::system_error(path_of(kRecords), "make the folder", errno);
  return open_below(base.get(), kRecords, path_of(kRecords), to);
}

Result<void> TableFolder::replace(const io::Descriptor& folder, const std::string& file,
                                  const std::string& text, const std::string& path) const {
  if (const auto there = is_there(folder.get(), file, path); !there) return there.error();
  io::Descriptor records(-1);
  if (auto ok = open_records(records); !ok) return ok;
  ::unlinkat(records.get(), kNew, 0);
  io::Descriptor made(::openat(records.get(), kNew,
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileBits));
  if (!made.valid()) return io::system_error(path, "create a temporary file for it", errno);
  // A rename replaces what has taken the name meanwhile, a link itself and not what it leads to.
  if (::fchmod(made.get(), kFileBits) == 0 && io::write_all(made.get(), text) && made.reset() &&
      ::renameat(records.get(), kNew, folder.get(), file.c_str()) == 0)
    return {};
  const int number = errno;
  ::unlinkat(records.get(), kNew, 0);
  return io::system_error(path, "write", number);
}

}  // namespace chipweave::agent
