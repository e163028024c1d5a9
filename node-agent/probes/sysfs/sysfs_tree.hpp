// SysfsTree — reads /sys and /proc below an injectable root, so that tests and offline tools can
// use a recorded or constructed tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chipweave::agent {

class SysfsTree {
 public:
  explicit SysfsTree(std::string root) : root_(std::move(root)) {}

  std::string path(const std::string& relative) const { return root_ + relative; }
  bool exists(const std::string& relative) const;
  // The first bytes (4 KiB) without trailing blanks and newlines; nullopt if it cannot be read.
  std::optional<std::string> text(const std::string& relative) const;
  // Names in a folder, sorted, at most 4096; empty if there is none.
  std::vector<std::string> names(const std::string& relative) const;
  // The final target of a symlink, as a path below the root ("/sys/devices/…"); nullopt if it does
  // not exist.
  std::optional<std::string> resolved(const std::string& relative) const;

 private:
  std::string root_;  // without trailing slash; empty: the real one
};

}  // namespace chipweave::agent
