// fix — mends what is mechanical: quotes around scalars, counts, ranks without gaps, lists in the
// order of ranks. Everything else in the text stays as it is.
#pragma once

#include <string>
#include <vector>

#include "common/codec/ranktable/lint/lint_text.hpp"

namespace chipweave::codec::ranktable {

struct Fixed {
  std::string text;                  // the whole document
  std::vector<std::string> changes;  // in words; empty: nothing was mechanical
};

// Repeats until a round finds nothing more (three rounds at most: types, then numbers, then order).
// Precondition: a table that is an object of `text` itself, not one in a string.
Fixed fix(std::string text, const LintOptions& options);

}  // namespace chipweave::codec::ranktable
