// The C++ files of the repository, as the architecture tests read them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace chipweave::architecture {

// Path from the repository root → content, of .cpp, .hpp, .h, .cc and .proto files below `folders`.
std::map<std::string, std::string> read_sources(const std::vector<std::string>& folders);

// One file, e.g. "docs/develop/architecture.md"; empty if there is none.
std::string read_source(const std::string& path);

}  // namespace chipweave::architecture
