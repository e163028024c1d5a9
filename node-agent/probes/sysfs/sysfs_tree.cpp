#include "node-agent/probes/sysfs/sysfs_tree.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace chipweave::agent {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxTextBytes = 4096;
constexpr std::size_t kMaxNames = 4096;

}  // namespace

bool SysfsTree::exists(const std::string& relative) const {
  std::error_code ignored;
  return fs::exists(path(relative), ignored);
}

std::optional<std::string> SysfsTree::text(const std::string& relative) const {
  std::ifstream in(path(relative), std::ios::binary);
  std::array<char, kMaxTextBytes> buffer{};
  in.read(buffer.data(), buffer.size());
  if (!in.is_open() || in.bad()) return std::nullopt;
  std::string out(buffer.data(), static_cast<std::size_t>(in.gcount()));
  out.erase(out.find_last_not_of(" \t\r\n") + 1);
  return out;
}

std::vector<std::string> SysfsTree::names(const std::string& relative) const {
  std::vector<std::string> out;
  std::error_code failed;
  fs::directory_iterator at(path(relative), failed);
  while (!failed && at != fs::directory_iterator() && out.size() < kMaxNames) {
    out.push_back(at->path().filename().string());
    at.increment(failed);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::string> SysfsTree::resolved(const std::string& relative) const {
  std::error_code failed;
  const std::string target = fs::canonical(path(relative), failed).string();
  if (failed) return std::nullopt;
  const std::string base = root_.empty() ? "" : fs::canonical(root_, failed).string();
  if (failed || target.compare(0, base.size(), base) != 0) return std::nullopt;
  return target.substr(base.size());
}

}  // namespace chipweave::agent
