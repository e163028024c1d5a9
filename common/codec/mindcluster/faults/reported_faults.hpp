// A machine's faults as MindCluster's components expect them: per chip in the format of its device
// plugin, per switch and per machine in the format of NodeD.
//
// A DCMI signal "dcmi.80e01801" has the fault code "80E01801"; faults of other sources have only a
// level, no code. Levels follow from the effect (link SubHealthFault, network PreSeparateNPU,
// unusable SeparateNPU, a cordon ManuallySeparateNPU) unless the fault's text carries one of
// MindCluster's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/codec/mindcluster/faults/chip_faults.hpp"
#include "common/codec/mindcluster/node/node_info.hpp"
#include "common/codec/mindcluster/node/switch_info.hpp"
#include "common/domain/fault.hpp"

namespace chipweave::codec::mindcluster {

// Signals of switches inside the machine: "switch." and then MindCluster's AssembledFaultCode,
// "switch.[0x00f103b0,155904,na,na]".
inline constexpr std::string_view kSwitchFaultPrefix = "switch.";

// One entry for each chip and type, ascending by chip, with all codes of that type.
std::vector<ChipFault> chip_faults_of(const AscendNames& names,
                                      const std::vector<domain::Fault>& faults);

SwitchInfo switch_faults_of(const std::vector<domain::Fault>& faults, std::int64_t update_time);

// Faults of the machine itself, not of a chip, NIC or switch: "node.cpu.0000001d". nullopt: none,
// so there is no ConfigMap.
std::optional<NodeInfo> node_faults_of(const std::vector<domain::Fault>& faults);

}  // namespace chipweave::codec::mindcluster
