// DeviceAddresses — who tells a generator under which address a device of a machine is reached.
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
// Takes a sentence for the person who runs the generator.
using Warn = std::function<void(const std::string&)>;

class DeviceAddresses {
 public:
  DeviceAddresses() = default;
  DeviceAddresses(const DeviceAddresses&) = delete;
  DeviceAddresses& operator=(const DeviceAddresses&) = delete;
  virtual ~DeviceAddresses() = default;
  // Of the device with that physical id, a port each; never empty. not_found where there is no such
  // device or it has no address, with what to do about it.
  virtual Result<Ports> of(int device) = 0;
};

// Asks the devices of this machine and takes what their configuration file says where that fails.
class LiveAddresses final : public DeviceAddresses {
 public:
  struct Sources {
    std::optional<io::HccnProgram> tool;  // nullopt: there is no such program
    std::optional<codec::ascend::HccnConf> conf;
    std::string conf_name;  // for messages
  };
  LiveAddresses(Sources sources, Warn warn);
  // Warns where the tool and the file say different addresses.
  Result<Ports> of(int device) override;

 private:
  Result<Ports> asked(int device);
  std::optional<Ports> configured(int device) const;
  Error missing(int device, const Error* why) const;

  Sources sources_;
  Warn warn_;
};

// Device N has address base + N.
struct AddressPlan {
  IpAddress base;
  int prefix = 0;

  // limit_exceeded or invalid_argument where that leaves the network or is no address of a host.
  Result<Ports> of(int device) const;
};
// "10.0.1.18/24"
Result<AddressPlan> parse_address_plan(std::string_view text);

// What the description of a machine says, or a plan where it says nothing.
class DescribedAddresses final : public DeviceAddresses {
 public:
  DescribedAddresses(domain::NodeTopology machine, std::string name,
                     std::optional<AddressPlan> plan);
  Result<Ports> of(int device) override;

 private:
  domain::NodeTopology machine_;
  std::string name_;
  std::optional<AddressPlan> plan_;
};

}  // namespace chipweave::cli
