#include "node-agent/sources/host_devices.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/base/text.hpp"
#include "common/io/files.hpp"

namespace chipweave::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInformationBytes = 16384;
constexpr std::size_t kMaxNodesOfGpu = 64;

// Only "0000:3b:00.0": it becomes a part of a path.
bool is_pci_address(std::string_view text) {
  if (text.size() < 12 || text.size() > 16) return false;
  for (const char c : text) {
    const bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!hex && c != ':' && c != '.') return false;
  }
  return true;
}

}  // namespace

// A link's target is a path of the host, which is not where the host's root is mounted here.
std::optional<std::string> SystemDevices::node_at(const std::string& path) const {
  constexpr int kMaxLinks = 8;
  fs::path at = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code failed;
    const fs::file_status status = fs::symlink_status(root_ + at.string(), failed);
    if (failed || !fs::exists(status)) return std::nullopt;
    if (!fs::is_symlink(status)) return at.lexically_normal().string();
    const fs::path target = fs::read_symlink(root_ + at.string(), failed);
    if (failed) return std::nullopt;
    at = (at.parent_path() / target).lexically_normal();
  }
  return std::nullopt;
}

std::optional<int> SystemDevices::nvidia_minor(const std::string& pci) const {
  if (!is_pci_address(pci)) return std::nullopt;
  const std::string path = "/proc/driver/nvidia/gpus/" + lower_case(pci) + "/information";
  auto text = io::read_file(root_ + path, kMaxInformationBytes);
  // A container has the same folder, unless it is masked.
  if (!text && !root_.empty()) text = io::read_file(path, kMaxInformationBytes);
  if (!text) return std::nullopt;
  for (const std::string_view line : split(*text, '\n')) {
    constexpr std::string_view kKey = "Device Minor:";
    if (line.starts_with(kKey)) return parse_number<int>(trim(line.substr(kKey.size())));
  }
  return std::nullopt;
}

std::vector<std::string> SystemDevices::drm_nodes(const std::string& pci) const {
  std::vector<std::string> out;
  if (!is_pci_address(pci)) return out;
  const std::string path = "/sys/bus/pci/devices/" + lower_case(pci) + "/drm";
  auto names = io::folder_names(root_ + path, kMaxNodesOfGpu);
  if (!names && !root_.empty()) names = io::folder_names(path, kMaxNodesOfGpu);
  if (!names) return out;
  for (const std::string& name : *names) {
    if (name.starts_with("card") || name.starts_with("renderD")) out.push_back("/dev/dri/" + name);
  }
  return out;
}

// /sys/bus/pci/devices/ADDRESS leads to …/devices/pci0000:3a/0000:3a:00.0/….
std::string SystemDevices::pcie_root(const std::string& pci) const {
  if (!is_pci_address(pci)) return "";
  std::error_code failed;
  const std::string path = "/sys/bus/pci/devices/" + lower_case(pci);
  fs::path target = fs::read_symlink(root_ + path, failed);
  if (failed && !root_.empty()) target = fs::read_symlink(path, failed);
  if (failed) return "";
  for (const fs::path& part : target) {
    if (part.string().starts_with("pci") && part.string().find(':') != std::string::npos)
      return part.string();
  }
  return "";
}

}  // namespace chipweave::agent
