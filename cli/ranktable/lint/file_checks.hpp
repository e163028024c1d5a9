// RT080 — link and mode of the file of a rank table.
#pragma once

#include <string>

#include "common/domain/ranktable/lint/finding.hpp"

namespace chipweave::cli {

// Reports symbolic links, and modes that the consumer rejects or that let others read or write. For
// the structural profile 0644 is accepted, which is usual on shared mounts. Nothing for standard
// input.
domain::ranktable::Findings check_file(const std::string& file, domain::ranktable::Profile profile);

}  // namespace chipweave::cli
