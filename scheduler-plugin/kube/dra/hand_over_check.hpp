// HandOverCheck — withholds chips of nodes whose chips are handed over by DRA: those that no DRA
// driver offers, that are offered twice, or that kube-scheduler could give away, too. Checked
// whenever a node or its ResourceSlices have changed; what is not known is withheld.
//
// Owner: the loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/clock.hpp"
#include "common/kube/device_catalog.hpp"
#include "scheduler-plugin/app/inventory_sink.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

// Code of the fault of a chip that is withheld.
inline constexpr const char* kNotHandedOver = "dra.device";

class HandOverCheck {
 public:
  // All must outlive it.
  HandOverCheck(const NodeTable& nodes, const kube::DeviceCatalog& devices, const Clock& clock,
                InventorySink& sink)
      : nodes_(nodes), devices_(devices), clock_(clock), sink_(sink) {}

  // known: whether all ResourceSlices were listed once. Call it several times a second. O(nodes),
  // and O(devices) of those that have changed.
  void check(bool known);

 private:
  // What the last answer about a node was for.
  struct Seen {
    std::uint64_t life = 0;
    std::string boot_id;
    std::uint64_t sequence = 0;
    std::uint64_t devices = 0;
    bool known = false;

    friend bool operator==(const Seen&, const Seen&) = default;
  };
  std::vector<domain::Fault> withheld_on(const Node& node, bool known) const;

  const NodeTable& nodes_;
  const kube::DeviceCatalog& devices_;
  const Clock& clock_;
  InventorySink& sink_;
  std::unordered_map<NodeId, Seen> seen_;  // of nodes with DRA
};

}  // namespace chipweave::sched
