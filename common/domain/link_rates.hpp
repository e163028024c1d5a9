// Link constants: the bandwidth that a ring gets from one lane of a link, and from a host path, by
// kind and model. GB/s, one direction.
//
// Sources: NCCL's own per-link figures (src/graph/topo.h: SM60 18, SM70 20, SM80 20, SM86 12,
// SM90 20.6, SM100 40.1), RCCL's XGMI figures (36 per link on MI200, 48 on MI300), published
// measurements (docs/develop/bandwidth-measurements.md). Where nothing is published, the vendor's
// nominal one-way rate is used, which docs/concepts/bandwidth-model.md marks.
#pragma once

#include <string_view>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

// One lane of `kind` on a chip of `model` ("A100-SXM4", "NVIDIA H100", "" unknown: NVLINK 20).
double default_gbps_per_lane(LinkKind kind, std::string_view model);

// What the model is called in the table of known models: "NVIDIA A100-SXM4-80GB" → "A100"; "" if it
// is unknown.
std::string_view known_model_word(std::string_view model);

// Names by which models are known, for messages.
const std::vector<std::string_view>& known_models();
// Whether a model is one of them: "H100", "NVIDIA A100-SXM4-80GB", "Ascend910B3"; "H1000" is not.
bool is_known_model(std::string_view model);

// The share of a chip's ring rate that it gets through a switch of its model that reduces (NVLink
// SHARP), as NCCL counts it: 0.85 on Hopper, 0.74 on Blackwell; 0: the switches do not reduce.
double in_switch_reduction(std::string_view model);

// Host paths of a platform: PCIe generation 3…6 (x16), and what crosses sockets.
// intel: peer-to-peer traffic through an Intel root complex costs 6/5 of its bandwidth (NCCL's
// rule).
HostBandwidth pcie_host_bandwidth(int generation, bool intel);

// Host paths by model; for unknown models PCIe 3 behind Intel sockets (10, SYS 5).
HostBandwidth default_host_bandwidth(std::string_view model);

}  // namespace chipweave::domain
