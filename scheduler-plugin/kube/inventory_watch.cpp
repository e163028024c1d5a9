#include "scheduler-plugin/kube/inventory_watch.hpp"

#include <utility>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/kube/inventory/inventory_health.hpp"
#include "common/codec/network/kubernetes/node_network.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

// Whole objects: what counts is the status of a NodeInventory and of a Node, and the spec of a
// Lease.
template <class Object>
typename kube::Reflector<Object>::Options watch_of(const std::string& path,
                                                   const std::string& selector = {}) {
  typename kube::Reflector<Object>::Options options;
  options.path = path;
  options.selector = selector;
  return options;
}

}  // namespace

InventoryWatch::InventoryWatch(kube::Transport& transport, const Options& options,
                               InventorySink& sink, Events events,
                               const std::function<double()>& jitter)
    : sink_(sink),
      events_(std::move(events)),
      inventories_(transport, watch_of<codec::KubeInventory>(codec::kInventoryPath),
                   {{[this](codec::KubeInventory&& seen) { take(seen); },
                     [this](const std::string& node) { sink_.inventory_gone(node); }},
                    events_.synced,
                    events_.failed},
                   jitter),
      leases_(transport,
              watch_of<codec::KubeLease>(
                  "/apis/coordination.k8s.io/v1/namespaces/" + options.lease_namespace + "/leases",
                  "labelSelector=chipweave.dev%2Fcomponent%3Dagent"),
              {{[this](codec::KubeLease&& seen) { sink_.heartbeat(seen.name, seen.holder); },
                [](const std::string&) {}},  // a missing heartbeat has the same effect
               [] {},
               events_.failed},
              jitter),
      nodes_(transport, watch_of<codec::KubeNode>("/api/v1/nodes"),
             {{[this](codec::KubeNode&& seen) { take_node(seen); },
               [this](const std::string& node) {
                 if (events_.node_gone) events_.node_gone(node);
                 sink_.inventory_gone(node);
                 sink_.node_offers(node, std::nullopt);
                 sink_.node_takes(node, std::nullopt);
               }},
              [this] {
                if (events_.nodes_synced) events_.nodes_synced();
              },
              [this](const kube::WatchFailure& failure) {
                if (events_.nodes_failed) events_.nodes_failed(failure);
                events_.failed(failure);
              }},
             jitter) {}

void InventoryWatch::start() {
  inventories_.start();
  leases_.start();
  nodes_.start();
}

void InventoryWatch::take_node(const codec::KubeNode& seen) {
  if (events_.node_seen) events_.node_seen(seen);
  sink_.node_takes(seen.name, domain::NodeStanding{seen.labels, seen.taints, seen.unschedulable});
  constexpr int kMilliCpu = 3;
  if (seen.cpu.empty() || seen.memory.empty()) return sink_.node_offers(seen.name, std::nullopt);
  sink_.node_offers(
      seen.name, NodeUse{codec::amount_of(seen.cpu, kMilliCpu), codec::amount_of(seen.memory, 0)});
}

void InventoryWatch::take(const codec::KubeInventory& seen) {
  if (seen.status.empty()) return;  // just created; the agent writes the status next
  auto inventory = codec::read_inventory_status(seen.status, seen.name);
  if (!inventory) return events_.unusable(seen.name, inventory.error());
  InventoryReport report;
  report.node = seen.name;
  report.boot_id = std::move(inventory->boot_id);
  report.sequence = static_cast<std::uint64_t>(inventory->sequence);
  report.ordered = true;
  report.machine = std::move(inventory->machine);
  report.resources = std::move(inventory->resources);
  report.topology = std::move(inventory->topology);
  codec::StatusDetails details = codec::read_status_details(seen.status);
  report.carried = std::move(details.carried);
  report.given = std::move(details.given);
  report.enforcement = details.enforcement;
  report.gate_open = details.gate_open;
  if (auto& faults = details.faults) {
    report.faults = std::move(faults).value();
  } else {
    obs::log(obs::Level::warn, "the faults of a NodeInventory are unreadable",
             {{"node", seen.name}, {"error", faults.error().text()}});
  }
  if (auto network = codec::read_node_network(seen.status)) {
    report.network = std::move(network).value();
  } else {
    obs::log(obs::Level::warn, "what a NodeInventory says about the network is unreadable",
             {{"node", seen.name}, {"error", network.error().text()}});
  }
  const ReportAnswer answer = sink_.report(std::move(report));
  if (answer == ReportOutcome::no_room || answer == ReportOutcome::needs_full)
    return events_.unusable(seen.name, make_error(Errc::limit_exceeded, answer.problem));
  if (events_.taken) events_.taken();
}

}  // namespace chipweave::sched
