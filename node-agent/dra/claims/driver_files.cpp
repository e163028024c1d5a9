#include "node-agent/dra/claims/driver_files.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "common/codec/kube/dra/prepared_claims.hpp"
#include "common/io/descriptor.hpp"
#include "common/io/files.hpp"

namespace chipweave::agent::dra {
namespace {

constexpr std::size_t kMaxNames = 65536;  // in the folder of all CDI files of the node

}  // namespace

Result<std::string> SystemFiles::read(const std::string& path) {
  return io::read_file(path, codec::kMaxPreparedBytes);
}

Result<void> SystemFiles::write(const std::string& path, const std::string& content) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, failed);
  if (failed) return io::system_error(folder.string(), "make the folder", failed.value());
  return io::write_file_atomically(path, content);
}

Result<void> SystemFiles::remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  return io::system_error(path, "delete", errno);
}

Result<std::vector<std::string>> SystemFiles::names(const std::string& folder) {
  auto out = io::folder_names(folder, kMaxNames);
  if (!out && out.error().code == Errc::not_found) return std::vector<std::string>();
  return out;
}

}  // namespace chipweave::agent::dra
