// Checks that every accepted machine must pass, whatever its source.
#pragma once

#include <cstdlib>

#include "common/base/limits.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::codec {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// The canonical text reads back and is the same again.
inline void require_reads_back(const domain::NodeTopology& topology) {
  require(topology.chip_count() >= 1 && topology.chip_count() <= limits::kMaxChips);
  const std::string text = export_topology_json(topology);
  const auto again = import_topology_json(text, {});
  require(again.ok());
  require(export_topology_json(again->topology) == text);
}

// An error always has a message.
template <class T>
void require_words(const Result<T>& result) {
  if (!result.ok()) require(!result.error().text().empty());
}

}  // namespace chipweave::codec
