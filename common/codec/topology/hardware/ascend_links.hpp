// The driver's words for the link between two Ascend chips, and their meaning in a topology. Shared
// by the importer of `npu-smi info -t topo` and the node agent's probe.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/codec/topology/hardware/connected.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {

// "SYS" … "PIX"; nullopt for any other word.
std::optional<domain::LinkKind> ascend_host_path(std::string_view word);
// "HCCS", "SIO", "UB"; nullopt for any other word.
std::optional<domain::LinkKind> ascend_direct_link(std::string_view word);
// "HCCS_SW": over a switch.
bool is_ascend_switched(std::string_view word);

// An HCCS switch for these chips, with the lanes and rate of an A3 die.
void add_hccs_switch(domain::TopologyBuilder& builder, const std::vector<domain::ChipIndex>& chips);

// Chips that reach each other over HCCS_SW share a switch: one switch for each connected set.
// switched(i, k) is called for positions i < k of `chips`.
template <class Switched>
void add_hccs_switches(domain::TopologyBuilder& builder,
                       const std::vector<domain::ChipIndex>& chips, const Switched& switched) {
  for (const std::vector<std::size_t>& set : connected_sets(chips.size(), switched)) {
    if (set.size() < 2) continue;
    std::vector<domain::ChipIndex> members;
    members.reserve(set.size());
    for (const std::size_t i : set) members.push_back(chips[i]);
    add_hccs_switch(builder, members);
  }
}

}  // namespace chipweave::codec
