// The C++ files and the folders of the repository, as the architecture tests read them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace chipweave::architecture {

// Path from the repository root → content, of .cpp, .hpp, .h, .cc and .proto files below `folders`.
std::map<std::string, std::string> read_sources(const std::vector<std::string>& folders);

// Path of every folder of the repository → how many files are directly in it. Left out: build
// outputs, caches, and hidden folders other than .ci.
std::map<std::string, std::size_t> count_files();

// One file, e.g. "docs/develop/architecture.md"; empty if there is none.
std::string read_source(const std::string& path);

}  // namespace chipweave::architecture
