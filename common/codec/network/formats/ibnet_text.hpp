// IbFabric — the output of ibnetdiscover: the switch that each interface of a host is connected to.
// Internal to common/codec/network.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct IbFabric {
  // One port of a host's interface that is connected to a switch.
  struct Port {
    std::string host;  // by its description; "" if that names none
    std::string hca;   // "mlx5_0", "HCA-1"
    unsigned port = 0;
    std::size_t leaf = 0;  // of `switches`
  };
  std::vector<std::string> switches;  // names
  std::vector<Port> ports;            // once each, though both ends list it
  std::size_t aggregation = 0;  // ports of the switches' aggregation nodes, which are left out
};

// Errors name the line: more switches or ports than the limits.
Result<IbFabric> read_ib_fabric(std::string_view text);

}  // namespace chipweave::codec
