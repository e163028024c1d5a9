// The dependency rule of the code base (docs/develop/architecture.md) as a table, and the scan that
// holds a tree against it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace chipweave::architecture {

// One kind of folder and what its files may include, besides its own files and C++ standard
// headers.
struct Layer {
  std::string folder;                    // with everything below it
  std::vector<std::string> folders;      // of ours; "proto" stands for the generated *.pb.h
  std::vector<std::string> foreign;      // names of kForeignLibraries; "posix" for system headers
  std::vector<std::string> banned = {};  // standard headers it may not include
};

// The table. A file belongs to the layer with the longest matching folder.
const std::vector<Layer>& layers();
// The layer as a row of the Markdown table in docs/develop/architecture.md.
std::string table_row(const Layer& layer);

struct Breach {
  std::string file;
  int line = 0;
  std::string what;
  std::string text() const { return file + ":" + std::to_string(line) + ": " + what; }
};

// Path from the repository root → content, of all C++ files of the layers' folders.
using Tree = std::map<std::string, std::string>;

// A foreign library may be included by the layer that owns it, and may not become visible to others
// through one of its headers: an include counts with everything that it includes in turn.
std::vector<Breach> check_includes(const Tree& tree);

}  // namespace chipweave::architecture
