// RT080 — what the file system says about the file of a rank table.
#pragma once

#include <string>

#include "common/domain/ranktable/lint/finding.hpp"

namespace chipweave::cli {

// Symbolic links, and modes that the consumer refuses or that let others read or write. The mode of
// a table that nobody in particular is going to read is only remarked on when others may write it:
// 0644 is usual on shared mounts. Nothing for standard input.
domain::ranktable::Findings check_file(const std::string& file, domain::ranktable::Profile profile);

}  // namespace chipweave::cli
