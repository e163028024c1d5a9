// Import of network descriptions: bytes of a foreign format → NetworkTable. The format is detected
// by content. docs/reference/network-import.md describes the levels of each format.
//
// No I/O here. Importers tolerate what real files contain (comments, unrelated objects, nodes
// without labels). Contradictions (cycles, two parents, duplicate names) are errors that name line,
// key or object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/network_table.hpp"

namespace chipweave::codec {

struct NetworkImportOptions {
  std::string format;               // one of network_formats(); empty: by content
  std::vector<std::string> levels;  // node labels that are the levels, coarsest first; empty: those
                                    // of the file, or of a known label family
};

struct ImportedNetwork {
  domain::NetworkTable table;
  std::string format;
  std::vector<std::string> warnings;  // what was assumed or left out, for people
};

// Errors: an unknown format, with the known ones.
Result<ImportedNetwork> import_network(std::string_view content,
                                       const NetworkImportOptions& options = {});

// Names of formats, the more specific first: that is the order of detection.
std::vector<std::string_view> network_formats();

}  // namespace chipweave::codec
