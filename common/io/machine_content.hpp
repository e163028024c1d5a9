// The topology in the content of a file that the caller has read, e.g. from standard input.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::io {

// content: a text in any topology format, or a tar archive of a folder. `where` names the input in
// errors: "file box.txt".
Result<codec::ImportedTopology> machine_in_content(const std::string& content,
                                                   const std::string& where,
                                                   const codec::ImportOptions& options = {});

}  // namespace chipweave::io
