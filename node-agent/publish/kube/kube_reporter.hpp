// KubeReporter — reports this node to the API server of a cluster: its NodeInventory object, at
// once on a change, and a Lease as heartbeat from the first stored state on.
//
// The two are independent, so that a slow lease never delays a change of health. Nothing is deleted
// at the end: a node whose agent is gone is recognised by its expired lease. Owner: the loop
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/publish/kube/inventory_writer.hpp"
#include "node-agent/publish/kube/lease_keeper.hpp"
#include "node-agent/publish/reporter.hpp"

namespace chipweave::agent {

struct KubeReporterOptions {
  std::string node;             // a DNS subdomain, checked before
  std::string lease_namespace;  // checked before
  std::string boot_id;
  std::string node_boot_id;  // of the kernel; "" unknown
  std::uint64_t seed = 0;    // for the jitter
};

class KubeReporter final : public Reporter {
 public:
  // `transport` and `clock` must outlive it. A status write counts as a full report, a renewal as a
  // heartbeat; connected: the newest attempts of both have succeeded.
  KubeReporter(kube::Transport& transport, const Clock& clock, const KubeReporterOptions& options,
               ReporterEvents events);

  void want(NodeStatePtr state, bool urgent) override { inventory_.want(std::move(state), urgent); }
  // Reads what the previous run reported. Before start().
  void recall() { inventory_.start(); }
  void start() override { inventory_.release(); }
  void stop(std::function<void()> done) override;

 private:
  void written();
  void works(bool& part, bool yes);

  kube::Transport& transport_;
  ReporterEvents events_;
  std::string node_;
  bool leasing_ = false;
  bool inventory_works_ = false;
  bool lease_works_ = false;
  bool connected_ = false;
  InventoryWriter inventory_;
  LeaseKeeper lease_;
  std::unique_ptr<kube::Ticket> end_;
};

}  // namespace chipweave::agent
