// Reads the rank tables that a merge is given by their names.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/ranktable/tools/input_table.hpp"

namespace chipweave::cli {

// Together at most as large as two of the largest tables: a table of all devices of a cluster has a
// few MiB. Errors name the file.
Result<std::vector<codec::ranktable::NamedText>> read_tables(const std::vector<std::string>& names);

}  // namespace chipweave::cli
