#include "common/io/file_set.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/io/descriptor.hpp"

namespace chipweave::io {
namespace {

namespace fs = std::filesystem;

// The bits that a new file gets; there is no other way to ask for the umask than to set it.
mode_t bits_of(FileMode mode) {
  if (mode == FileMode::owner_only) return 0600;
  const mode_t mask = ::umask(0077);
  ::umask(mask);
  return 0666U & ~mask;
}

// Temporary files, which go if they were not renamed.
class Staged {
 public:
  Staged() = default;
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged() {
    for (const auto& [temporary, path] : files_) ::unlink(temporary.c_str());
  }

  Result<void> add(const std::string& folder, const NamedText& file, mode_t bits) {
    const std::string path = joined_path(folder, file.name);
    if (fs::is_directory(fs::symlink_status(path))) {
      return make_error(Errc::invalid_argument, "is a folder, not a file").in("file " + path);
    }
    // Hidden, so that the pattern local_*.json does not match it.
    std::string temporary = joined_path(folder, ".ranktable.XXXXXX");
    auto done = write_temporary(temporary, path, file.text, bits);
    if (done) files_.emplace_back(temporary, path);
    return done;
  }

  Result<void> rename_all(const std::function<void(const std::string&)>& saved) {
    while (!files_.empty()) {
      const auto [temporary, path] = files_.front();
      if (::rename(temporary.c_str(), path.c_str()) != 0) return system_error(path, "write", errno);
      files_.erase(files_.begin());
      saved(path);
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace

Result<void> write_file_set(const std::string& folder, const std::vector<NamedText>& files,
                            FileMode mode, const std::function<void(const std::string&)>& saved) {
  if (folder.empty()) {
    return make_error(Errc::invalid_argument, "the folder to write to has an empty name");
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || !fs::is_directory(folder, failed)) {
    return make_error(Errc::unavailable,
                      "cannot make the folder: " +
                          (failed ? failed.message() : std::string("a file of that name is there")))
        .in("folder " + folder);
  }
  const mode_t bits = bits_of(mode);
  Staged staged;
  for (const NamedText& file : files) {
    if (Result<void> good = staged.add(folder, file, bits); !good) return good;
  }
  return staged.rename_all(saved);
}

std::string joined_path(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

}  // namespace chipweave::io
