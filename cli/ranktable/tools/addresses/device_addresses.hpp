// DeviceAddresses — the addresses of the devices of a machine: this one, or one that is described.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ip_address.hpp"
#include "common/base/result.hpp"
#include "common/codec/ascend/hccn/hccn_conf.hpp"
#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "common/domain/node_topology.hpp"
#include "common/io/hccn_program.hpp"

namespace chipweave::cli {

using Ports = std::vector<codec::ascend::PortAddress>;
// Takes a message for the person who runs the generator.
using Warn = std::function<void(const std::string&)>;

// Returns the ports of the device with that physical id; at least one. not_found if there is no
// such device or it has no address.
using DeviceAddresses = std::function<Result<Ports>(int device)>;

// Asks hccn_tool about the devices of this machine; /etc/hccn.conf is the fallback.
class LiveAddresses {
 public:
  struct Sources {
    std::optional<io::HccnProgram> tool;  // nullopt: not installed
    std::optional<codec::ascend::HccnConf> conf;
    std::string conf_name;  // for messages
  };
  LiveAddresses(Sources sources, Warn warn);
  // Warns if the tool and the file disagree.
  Result<Ports> operator()(int device);

 private:
  Result<Ports> fetch(int device);
  std::optional<Ports> configured(int device) const;
  Error missing(int device, const Error* why) const;

  Sources sources_;
  Warn warn_;
};

// Device N has address base + N.
struct AddressPlan {
  IpAddress base;
  int prefix = 0;

  // limit_exceeded outside of the network; invalid_argument if it is not a host address.
  Result<Ports> of(int device) const;
};
// "10.0.1.18/24"
Result<AddressPlan> parse_address_plan(std::string_view text);

// From the description of a machine, called `name` in messages, and from the plan if that has no
// address.
Result<Ports> described_ports(const domain::NodeTopology& machine, const std::string& name,
                              const std::optional<AddressPlan>& plan, int device);

}  // namespace chipweave::cli
