// fix — makes mechanical corrections: of what is not JSON (json_mend.hpp), quotes around scalars,
// counts, ranks without gaps, lists in the order of ranks. The rest of the text does not change.
// Ranks are not closed up where a device was lost.
#pragma once

#include <string>
#include <vector>

#include "common/codec/ranktable/lint/lint_text.hpp"

namespace chipweave::codec::ranktable {

struct Fixed {
  std::string text;                  // the whole document
  std::vector<std::string> changes;  // for people; empty: nothing to correct
  std::string refused;               // why the ranks keep their gap; empty: no such gap
};

// The syntax first, then up to three rounds: types, then numbers, then order. Precondition: the
// table is an object of `text`, not inside a string.
Fixed fix(std::string text, const LintOptions& options);

}  // namespace chipweave::codec::ranktable
