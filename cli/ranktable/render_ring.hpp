// Renders a rank table and its ring.
#pragma once

#include <string>

#include "common/codec/ranktable/lint/lint_text.hpp"
#include "common/solver/ranks/table_ring.hpp"

namespace chipweave::cli {

// The table by hosts, one row for each run of ranks, and where the ring crosses.
std::string render_ring(const codec::ranktable::LintedText& linted, const solver::TableRing& ring,
                        bool colours);
// A table without hosts (2.0): one row per rank.
std::string render_layered(const codec::ranktable::LintedText& linted, bool colours);
// {"dialect","status","ranks","levels":[{"name","crossings","least"}],"ring":[{"ranks":[0,7],
// "host","path","crosses"}],"order":[…],"unknown":[…]}
std::string ring_json(const codec::ranktable::LintedText& linted, const solver::TableRing& ring);
std::string layered_json(const codec::ranktable::LintedText& linted);
// The text of `order`: crossings now and at minimum, and the order of hosts with the fewest.
std::string render_order(const solver::TableRing& ring, bool colours);

}  // namespace chipweave::cli
