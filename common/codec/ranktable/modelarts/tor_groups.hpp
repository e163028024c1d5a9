// Which machines share leaf switches, from the switches that their devices report.
//
// The devices of a machine are often connected to several switches (one for each rail, or two for
// redundancy). Machines that share a switch are one group, so the switches of some devices may be
// unknown.
#pragma once

#include <string>
#include <vector>

namespace chipweave::codec {

// tors: for each machine the switches of its devices, "" if not known. Returns for each machine the
// name of its group: the group's first switch in natural order; "" if no switch is known.
std::vector<std::string> tor_groups(const std::vector<std::vector<std::string>>& tors);

struct PodSwitches {
  std::string host;               // equal for pods of one machine
  std::vector<std::string> tors;  // of its own devices, "" if not known
};

// The same for each pod: its machine has the switches of all pods on it.
std::vector<std::string> tor_groups_of_pods(const std::vector<PodSwitches>& pods);

}  // namespace chipweave::codec
