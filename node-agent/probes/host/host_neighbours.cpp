#include "node-agent/probes/host/host_neighbours.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "common/codec/lldp/lldp.hpp"
#include "common/io/child_process.hpp"
#include "common/io/files.hpp"

namespace chipweave::agent {
namespace {

const std::string kNetworkd = "/run/systemd/netif/lldp/";

using Neighbours = std::vector<codec::LldpNeighbour>;

Result<Neighbours> ask_lldpd(const LldpOptions& options) {
  io::ChildLimits limits;
  limits.deadline = options.deadline;
  limits.max_bytes = codec::kMaxLldpBytes;
  const auto output = io::run_child({options.lldpctl, "-f", "json0"}, limits);
  if (!output) return output.error();
  if (output->exit_status != 0) {
    return make_error(Errc::unavailable, options.lldpctl + " ended with status " +
                                             std::to_string(output->exit_status));
  }
  return codec::parse_lldpctl_json(output->text);
}

class Collection {
 public:
  Collection(const SysfsTree& tree, const HostView& view, domain::Observation& out)
      : tree_(tree), out_(out) {
    const bool rdma = std::any_of(view.nics.begin(), view.nics.end(),
                                  [](const HostNic& nic) { return !nic.rdma.empty(); });
    for (const HostNic& nic : view.nics) {
      if (!rdma || !nic.rdma.empty()) nics_.push_back(&nic);
    }
  }

  void add_lldpd(const LldpOptions& options) {
    const Result<Neighbours> received = ask_lldpd(options);
    if (!received) {
      out_.warnings.push_back("cannot read neighbours from lldpd: " + received.error().text());
      return;
    }
    for (const HostNic* nic : nics_) {
      for (const NetInterface& interface : nic->interfaces) {
        for (const auto& one : *received) {
          if (one.interface == interface.name) add(*nic, one);
        }
      }
    }
  }

  void add_networkd() {
    const std::set<std::string> known = named_;
    for (const HostNic* nic : nics_) {
      if (known.count(nic->name) > 0) continue;
      for (const NetInterface& interface : nic->interfaces) add_file(*nic, interface);
    }
  }

 private:
  void add_file(const HostNic& nic, const NetInterface& interface) {
    const std::string file = kNetworkd + std::to_string(interface.number);
    if (interface.number <= 0 || !tree_.exists(file)) return;
    const auto bytes = io::read_file(tree_.path(file), codec::kMaxLldpBytes);
    if (!bytes) return;  // networkd removed it
    const Result<Neighbours> received = codec::parse_lldp_frames(*bytes);
    if (!received) {
      out_.warnings.push_back("no neighbours of " + interface.name + ": " +
                              received.error().text());
      return;
    }
    for (const auto& one : *received) add(nic, one);
  }

  void add(const HostNic& nic, const codec::LldpNeighbour& received) {
    if (out_.neighbours.size() >= codec::kMaxLldpNeighbours) return;
    named_.insert(nic.name);
    out_.neighbours.push_back(
        {nic.name, std::nullopt, received.system, received.port, received.address});
  }

  const SysfsTree& tree_;
  domain::Observation& out_;
  std::vector<const HostNic*> nics_;
  std::set<std::string> named_;  // NICs with a neighbour
};

}  // namespace

void add_neighbours(const SysfsTree& tree, const HostView& view, const LldpOptions& options,
                    domain::Observation& observation) {
  Collection all(tree, view, observation);
  if (!options.lldpctl.empty()) all.add_lldpd(options);
  all.add_networkd();
}

}  // namespace chipweave::agent
