// VanishingFiles — takes files and folders out of an invented machine and puts them back, as a
// driver that is unloaded or a chip that falls off its bus does. A file that comes back is empty
// for a moment, which is worse than sysfs.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/host/sys_folder.hpp"

namespace chipweave::agent {

class VanishingFiles {
 public:
  // Of the machine as it stands now.
  explicit VanishingFiles(const SysFolder& machine) : machine_(machine) {
    namespace fs = std::filesystem;
    for (const auto& at : fs::recursive_directory_iterator(machine.root())) {
      Entry entry{at.path().string().substr(machine.root().size()), Kind::folder, ""};
      if (at.is_symlink()) {
        entry.kind = Kind::link;
        entry.content = fs::read_symlink(at.path()).string();
      } else if (at.is_regular_file()) {
        entry.kind = Kind::file;
        std::ifstream in(at.path(), std::ios::binary);
        entry.content.assign(std::istreambuf_iterator<char>(in), {});
      }
      // A folder comes before what is in it.
      entries_.push_back(std::move(entry));
    }
  }

  // Paths of all files, links and folders, below the root.
  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const Entry& entry : entries_) out.push_back(entry.path);
    return out;
  }
  // Those of files whose path contains `part`.
  std::vector<std::string> files(const std::string& part) const {
    std::vector<std::string> out;
    for (const Entry& entry : entries_) {
      const bool wanted = entry.path.find(part) != std::string::npos;
      if (entry.kind == Kind::file && wanted) out.push_back(entry.path);
    }
    return out;
  }

  void take(const std::string& path) const { machine_.remove(path); }
  void put_back() const {
    namespace fs = std::filesystem;
    for (const Entry& entry : entries_) {
      const fs::path at = machine_.root() + entry.path;
      if (fs::exists(fs::symlink_status(at))) continue;
      if (entry.kind == Kind::folder) fs::create_directory(at);
      if (entry.kind == Kind::link) fs::create_symlink(entry.content, at);
      if (entry.kind == Kind::file) machine_.write(entry.path, entry.content);
    }
  }

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
