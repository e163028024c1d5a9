// NetworkLog — log lines about the network: its levels, sources that contradict each other, and
// sources that cannot be used; one for each change. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

class NetworkLog {
 public:
  // Logs what changed since the last call.
  void check(const Network& network);

 private:
  std::vector<std::string> levels_;
  std::uint64_t conflicts_ = 0;
  std::map<NetworkSource, std::string> problems_;
};

}  // namespace chipweave::sched
