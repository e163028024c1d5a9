// How a rank table and its ring are shown.
#pragma once

#include <string>

#include "common/codec/ranktable/lint/lint_text.hpp"
#include "common/solver/ranks/table_ring.hpp"

namespace chipweave::cli {

// What the table is, a row a run of ranks on one host, and where the ring crosses.
std::string render_ring(const codec::ranktable::LintedText& linted, const solver::TableRing& ring,
                        bool colours);
// A table without hosts (2.0): a row a rank.
std::string render_layered(const codec::ranktable::LintedText& linted, bool colours);
// {"dialect","status","ranks","levels":[{"name","crossings","least"}],"ring":[{"ranks":[0,7],
// "host","path","crosses"}],"order":[…],"unknown":[…]}
std::string ring_json(const codec::ranktable::LintedText& linted, const solver::TableRing& ring);
std::string layered_json(const codec::ranktable::LintedText& linted);
// What `order` says: crossings now and at least, and the order of hosts that has the least.
std::string render_order(const solver::TableRing& ring, bool colours);

}  // namespace chipweave::cli
