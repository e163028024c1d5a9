// VanishingFiles — removes files and folders of an invented machine and puts them back, as when a
// driver is unloaded or a chip falls off its bus. A file that comes back is empty for a moment,
// which sysfs never shows.
#pragma once

#include <string>
#include <vector>

#include "tests/fakes/agent/sys_folder.hpp"

namespace chipweave::agent {

class VanishingFiles {
 public:
  // Saves the current state of the machine.
  explicit VanishingFiles(const SysFolder& machine);

  // Paths of all files, links and folders, below the root.
  std::vector<std::string> paths() const;
  // Those of files whose path contains `part`.
  std::vector<std::string> files(const std::string& part) const;

  void take(const std::string& path) const { machine_.remove(path); }
  void put_back() const;

 private:
  enum class Kind { folder, file, link };
  struct Entry {
    std::string path;
    Kind kind;
    std::string content;
  };
  const SysFolder& machine_;
  std::vector<Entry> entries_;
};

}  // namespace chipweave::agent
