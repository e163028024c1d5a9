#include "tests/fakes/agent/vanishing_files.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace chipweave::agent {

VanishingFiles::VanishingFiles(const SysFolder& machine) : machine_(machine) {
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

std::vector<std::string> VanishingFiles::paths() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) out.push_back(entry.path);
  return out;
}

std::vector<std::string> VanishingFiles::files(const std::string& part) const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) {
    const bool wanted = entry.path.find(part) != std::string::npos;
    if (entry.kind == Kind::file && wanted) out.push_back(entry.path);
  }
  return out;
}

void VanishingFiles::put_back() const {
  namespace fs = std::filesystem;
  for (const Entry& entry : entries_) {
    const fs::path at = machine_.root() + entry.path;
    if (fs::exists(fs::symlink_status(at))) continue;
    if (entry.kind == Kind::folder) fs::create_directory(at);
    if (entry.kind == Kind::link) fs::create_symlink(entry.content, at);
    if (entry.kind == Kind::file) machine_.write(entry.path, entry.content);
  }
}

}  // namespace chipweave::agent
