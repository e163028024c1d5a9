// A decision core that records its requests: the scheduler's side of the tests.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chipweave/v1/placement.pb.h"
#include "scheduler-plugin/app/inventory_sink.hpp"
#include "scheduler-plugin/app/placement_api.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {

using chipweave::Journal;
using chipweave::kPatience;
using chipweave::LoopThread;

class FakeCore final : public InventorySink, public PlacementApi {
 public:
  struct Gone {
    std::string node, boot_id;
  };
  struct Asked {
    PodRequest request;
    std::vector<std::string> nodes;
    bool reserve = false;
  };
  Journal<InventoryReport> reports;
  Journal<Gone> gone;
  Journal<std::string> beats;
  Journal<Asked> asked;
  Journal<std::string> released;
  // Set before the server starts, or on the loop.
  std::function<ReportOutcome(const InventoryReport&)> outcome = [](const auto&) {
    return ReportOutcome::taken;
  };
  Result<PlacedChips> placed = PlacedChips{"n1", {0, 4}, 40, 80};

  ReportAnswer report(InventoryReport report) override {
    const ReportOutcome answer = outcome(report);
    reports.add(std::move(report));
    return answer;
  }
  void agent_gone(std::string_view node, std::string_view boot_id) override {
    gone.add({std::string(node), std::string(boot_id)});
  }
  void heartbeat(std::string_view node, std::string_view) override { beats.add(std::string(node)); }
  void inventory_gone(std::string_view) override {}
  void withhold(std::string_view, std::vector<domain::Fault>) override {}
  void node_offers(const std::string&, const std::optional<NodeUse>&) override {}
  void node_takes(const std::string&, std::optional<domain::NodeStanding>) override {}
  Result<PlacedChips> place(const PodRequest& pod, std::span<const std::string_view> nodes,
                            bool reserve) override {
    asked.add({pod, {nodes.begin(), nodes.end()}, reserve});
    return placed;
  }
  Result<PlacedChips> reserve(const PodRequest& pod, std::string_view node) override {
    asked.add({pod, {std::string(node)}, true});
    return placed;
  }
  // The current placements in uid order; set on the loop, or before the server starts.
  std::vector<PlacedPod> holding;
  Result<void> ready = {};
  Result<std::string> placed_pods(
      std::string_view after, std::size_t most,
      const std::function<void(const PlacedPod&)>& visit) const override {
    if (!ready) return ready.error();
    std::string last;
    for (const PlacedPod& pod : holding) {
      if (pod.placement.uid <= after) continue;
      if (most-- == 0) return last;
      visit(pod);
      last = pod.placement.uid;
    }
    return std::string();
  }
  Result<void> release(const PodKey& key, std::string_view uid) override {
    released.add(key.text() + " " + std::string(uid));
    if (uid != "u1") return make_error(Errc::conflict, "held by another uid");
    return {};
  }
  Result<ExplainText> explain(const PodKey& key) override {
    if (key.name != "p") return make_error(Errc::not_found, "no decision about " + key.text());
    return ExplainText{"{\"pod\":\"ns/p\"}"};
  }
  Result<PlacedChips> what_if(const PodRequest& pod,
                              std::span<const std::string_view> nodes) override {
    return place(pod, nodes, false);
  }
};

// A request for two chips for pod ns/p on n1 or n2, to be reserved.
inline v1::PlaceRequest place_request() {
  v1::PlaceRequest r;
  r.mutable_request()->mutable_pod()->set_namespace_("ns");
  r.mutable_request()->mutable_pod()->set_name("p");
  r.mutable_request()->set_uid("u1");
  r.mutable_request()->set_resource("nvidia.com/gpu");
  r.mutable_request()->set_chips(2);
  r.add_nodes("n1");
  r.add_nodes("n2");
  r.set_reserve(true);
  return r;
}

}  // namespace chipweave::sched
