#include "common/io/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/io/descriptor.hpp"

namespace chipweave::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadChunk = std::size_t{64} << 10U;

std::string size_text(std::size_t bytes) {
  return bytes >= (1U << 20U) && bytes % (1U << 20U) == 0 ? std::to_string(bytes >> 20U) + " MiB"
                                                          : std::to_string(bytes) + " bytes";
}

Error too_large(std::size_t max_bytes) {
  return make_error(Errc::limit_exceeded, "larger than " + size_text(max_bytes));
}

// where: what errors call it.
Result<std::string> read_to_end(int fd, const std::string& where, std::size_t max_bytes) {
  std::string out;
  std::size_t used = 0;
  for (;;) {
    // one byte above the limit tells "exactly full" from "too large"
    const std::size_t want = std::min(kReadChunk, max_bytes - used) + 1;
    out.resize(used + want);
    const ssize_t n = ::read(fd, out.data() + used, want);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return make_error(Errc::unavailable, std::string("cannot read: ") + std::strerror(errno))
          .in(where);
    }
    used += static_cast<std::size_t>(n);
    if (used > max_bytes) return too_large(max_bytes).in(where);
    if (n == 0) break;
  }
  out.resize(used);
  out.shrink_to_fit();  // a folder has thousands of files with a line each
  return out;
}

// The file that a name leads to over symbolic links; the last one may lead to a file that is not
// there yet.
Result<std::string> behind_links(std::string path) {
  constexpr int kMaxLinks = 40;  // as the kernel does
  for (int i = 0; i < kMaxLinks; ++i) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
    std::error_code failed;
    const fs::path link = fs::read_symlink(path, failed);
    if (failed) return system_error(path, "read the link", failed.value());
    path = (fs::path(path).parent_path() / link).string();
  }
  return system_error(path, "write", ELOOP);
}

// A device or a pipe: what is written goes through it, nothing is replaced.
Result<void> write_in_place(const std::string& path, const std::string& content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return system_error(path, "open", errno);
  if (!write_all(file.get(), content) || !file.reset()) return system_error(path, "write", errno);
  return {};
}

// Makes the rename itself durable; file systems that cannot sync folders are ignored.
void sync_folder(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const Descriptor dir(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (dir.valid()) ::fsync(dir.get());
}

// One folder walk with its budget.
class TreeReader {
 public:
  enum class Want { contents, names };
  TreeReader(fs::path root, Want want) : root_(std::move(root)), want_(want) {}

  Result<codec::FileTree> read() {
    std::error_code failed;
    canonical_root_ = fs::canonical(root_, failed);
    if (failed) return system_error(root_.string(), "open", failed.value());
    if (!fs::is_directory(canonical_root_, failed)) {
      return make_error(Errc::invalid_argument, "is not a folder").in("folder " + root_.string());
    }
    if (Result<void> done = walk(canonical_root_, "", 0, 0); !done) return std::move(done).error();
    return std::move(tree_);
  }

 private:
  static constexpr int kMaxDepth = 16;

  Result<void> walk(const fs::path& folder, const std::string& prefix, int depth, int followed) {
    std::error_code failed;
    if (depth > kMaxDepth) {
      return make_error(Errc::limit_exceeded,
                        "nested deeper than " + std::to_string(kMaxDepth) + " folders")
          .in("folder " + root_.string());
    }
    std::vector<fs::path> entries;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end;
         it.increment(failed)) {
      if (++seen_ > limits::kMaxArchiveFiles) {
        return make_error(Errc::limit_exceeded,
                          "more than " + std::to_string(limits::kMaxArchiveFiles) + " files")
            .in("folder " + root_.string());
      }
      entries.push_back(it->path());
    }
    if (failed) return {};  // a folder that may not be listed is as good as absent
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) {
      if (Result<void> done = visit(entry, prefix, depth, followed); !done) return done;
    }
    return {};
  }

  Result<void> visit(const fs::path& entry, const std::string& prefix, int depth, int followed) {
    std::error_code failed;
    const std::string name = prefix + entry.filename().string();
    fs::path target = entry;
    if (fs::is_symlink(entry, failed)) {
      // sysfs is full of links that lead out or round in circles: only those that stay inside, one
      // on a path.
      target = fs::canonical(entry, failed);
      if (failed || followed > 0 || !inside(target)) return {};
      ++followed;
    }
    const fs::file_status status = fs::status(target, failed);
    if (failed) return {};
    if (fs::is_directory(status)) return walk(target, name + "/", depth + 1, followed);
    if (!fs::is_regular_file(status)) return {};
    if (want_ == Want::names) {
      tree_.emplace(name, std::string());
      return {};
    }
    Result<std::string> content = read_file(
        target.string(),
        std::min(limits::kMaxTopologyFileBytes, limits::kMaxUnpackedArchiveBytes - bytes_));
    if (!content) {
      // unreadable sysfs files (other container, root only) are absent; over the limit is an answer
      if (content.error().code != Errc::limit_exceeded) return {};
      if (limits::kMaxUnpackedArchiveBytes - bytes_ >= limits::kMaxTopologyFileBytes) {
        return std::move(content).error();
      }
      return make_error(Errc::limit_exceeded, "its files have more than " +
                                                  size_text(limits::kMaxUnpackedArchiveBytes) +
                                                  " in all")
          .in("folder " + root_.string());
    }
    bytes_ += content->size();
    tree_.emplace(name, std::move(content).value());
    return {};
  }

  bool inside(const fs::path& target) const {
    return std::mismatch(canonical_root_.begin(), canonical_root_.end(), target.begin(),
                         target.end())
               .first == canonical_root_.end();
  }
  fs::path root_;
  Want want_;
  fs::path canonical_root_;
  std::size_t seen_ = 0;
  std::size_t bytes_ = 0;
  codec::FileTree tree_;
};

}  // namespace

Result<std::vector<std::string>> folder_names(const std::string& folder, std::size_t max_names) {
  std::vector<std::string> out;
  std::error_code failed;
  fs::directory_iterator it(folder, failed);
  for (; !failed && it != fs::directory_iterator(); it.increment(failed)) {
    std::string name = it->path().filename().string();
    if (name.starts_with('.')) continue;
    if (out.size() == max_names) {
      return make_error(Errc::limit_exceeded, "more than " + std::to_string(max_names) + " files")
          .in("folder " + folder);
    }
    out.push_back(std::move(name));
  }
  if (failed) return system_error(folder, "open", failed.value());
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  if (path.find('\0') != std::string::npos) {
    return make_error(Errc::invalid_argument, "a file name must not contain a NUL byte");
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return system_error(path, "open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error(path, "read", errno);
  if (S_ISDIR(info.st_mode)) {
    return make_error(Errc::invalid_argument, "is a folder, not a file").in("file " + path);
  }
  if (S_ISREG(info.st_mode) && info.st_size > 0 &&
      static_cast<std::size_t>(info.st_size) > max_bytes) {
    return too_large(max_bytes).in("file " + path);
  }
  return read_to_end(file.get(), "file " + path, max_bytes);
}

Result<std::string> read_standard_input(std::size_t max_bytes) {
  return read_to_end(STDIN_FILENO, "standard input", max_bytes);
}

Result<void> write_file_atomically(const std::string& name, const std::string& content) {
  if (name.empty() || name.find('\0') != std::string::npos) {
    return make_error(Errc::invalid_argument, "no usable file name to write to");
  }
  struct stat old {};
  const bool exists = ::stat(name.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    return make_error(Errc::invalid_argument, "is a folder, not a file").in("file " + name);
  }
  // Before links are read: what /dev/stdout leads to may have no path.
  if (exists && !S_ISREG(old.st_mode)) return write_in_place(name, content);
  const Result<std::string> target = behind_links(name);
  if (!target) return target.error();
  const std::string& path = *target;
  std::string temporary = path + ".XXXXXX";
  const mode_t bits = exists ? (old.st_mode & 0777U) : 0644U;
  if (auto done = write_temporary(temporary, path, content, bits); !done) return done;
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::unlink(temporary.c_str());
    return system_error(path, "write", number);
  }
  sync_folder(path);
  return {};
}

Result<codec::FileTree> read_tree(const std::string& folder) {
  return TreeReader(folder, TreeReader::Want::contents).read();
}

Result<codec::FileTree> list_tree(const std::string& folder) {
  return TreeReader(folder, TreeReader::Want::names).read();
}

}  // namespace chipweave::io
