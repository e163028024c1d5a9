// What a container gets with its chips: environment variables, names of CDI devices, device nodes,
// as the vendor's runtime wants them. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/sources/host_devices.hpp"

namespace chipweave::device_plugin {

// Texts have placeholders: of one chip {id}, {index}, {physical}, {pci} and {minor}, the number of
// its node by NVIDIA's driver, which may differ from the index; of all chips of a container {ids},
// {indices}, {physicals}, comma lists.
struct HandOver {
  // Optional: handed over only where it exists. The container runtime cannot create a container
  // with a device that does not, and a driver may make some of its nodes late or never.
  struct Node {
    std::string path;
    bool optional = false;
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::map<std::string, std::string> environment;  // name → text, of all chips
  std::vector<std::string> cdi;                    // of one chip: "nvidia.com/gpu={id}"
  std::vector<Node> nodes;                         // of one chip: "/dev/nvidia{minor}"
  std::vector<Node> shared_nodes;                  // once a container: "/dev/nvidiactl"
  bool drm_nodes = false;                          // those of /dev/dri that belong to the chips
  bool empty() const {
    return environment.empty() && cdi.empty() && nodes.empty() && shared_nodes.empty() &&
           !drm_nodes;
  }
};

// What a vendor's runtime wants; ways: "env", "cdi", "devices", comma separated; empty: the
// vendor's usual one. Errors: invalid_argument, also for a vendor of which the way is not known.
Result<HandOver> vendor_hand_over(std::string_view vendor, std::string_view ways);

// "/dev/nvidiactl", with a "?" behind an optional one.
HandOver::Node parse_node(std::string_view text);

// Errors: a placeholder that does not exist; all: the text is of all chips.
Result<void> check_placeholders(std::string_view text, bool all);

struct Handed {
  std::map<std::string, std::string> environment;
  std::vector<std::string> cdi;
  std::vector<std::string> nodes;
  std::string answer;  // of the vendor's plugin, serialised, instead of all the others
};

// host: which nodes there are now. Errors: not_found: a chip's minor number is not known.
Result<Handed> hand_over(const HandOver& how, ChipSet chips, const Devices& devices,
                         const agent::HostDevices& host);

}  // namespace chipweave::device_plugin
