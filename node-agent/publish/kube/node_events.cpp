#include "node-agent/publish/kube/node_events.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::agent {
namespace {

using domain::Effect;

// A machine that goes to pieces must not flood the cluster: the inventory has all of it.
constexpr kube::EventLimits kLimits{256, 0.2, 25};
// The slowest word of a driver on what it knew before: hccn_tool of the last of 16 chips.
constexpr std::chrono::minutes kToldFor{3};

const char* reason_of(Effect effect) {
  switch (effect) {
    case Effect::unusable:
      return "ChipUnusable";
    case Effect::network:
      return "ChipNetworkDown";
    case Effect::link:
      return "LinkDown";
    case Effect::note:
      break;
  }
  return "HardwareNote";
}

}  // namespace

NodeEvents::NodeEvents(kube::Transport& transport, const Clock& clock, std::string node)
    : clock_(clock), node_(std::move(node)), sender_(transport, clock, kLimits) {}

void NodeEvents::fault(const FaultChange& change) {
  if (begun_) {
    if (!is_old(change)) send(change);
    return;
  }
  if (held_.size() >= kLimits.max_waiting) {
    held_.pop_front();
    ++dropped_;
  }
  held_.push_back(change);
}

void NodeEvents::begin(std::vector<domain::Fault> told) {
  told_ = std::move(told);
  told_until_ = clock_.now() + kToldFor;
  begun_ = true;
  for (const FaultChange& change : std::exchange(held_, {})) fault(change);
}

kube::EventSender::Stats NodeEvents::stats() const {
  kube::EventSender::Stats out = sender_.stats();
  out.dropped += dropped_;
  return out;
}

bool NodeEvents::is_old(const FaultChange& change) {
  if (clock_.now() > told_until_) told_.clear();
  const domain::Fault& fault = change.fault;
  const auto before = std::find_if(told_.begin(), told_.end(), [&fault](const auto& one) {
    return domain::same_cause(one, fault);
  });
  if (before == told_.end()) return false;
  const bool same = before->effect == fault.effect && before->lanes == fault.lanes;
  told_.erase(before);
  return same && change.kind == FaultChange::Kind::raised;
}

void NodeEvents::send(const FaultChange& change) {
  const domain::Fault& fault = change.fault;
  const bool cleared = change.kind == FaultChange::Kind::cleared;
  if (cleared && fault.effect == Effect::note) return;
  std::string note = place_of(fault) + ": " + fault.code;
  if (cleared) note += " is over";
  if (!fault.text.empty()) note += " (" + fault.text + ")";
  // As the kubelet does, and kubectl expects, a Node's uid in events is its name.
  sender_.send({{"Node", "", node_, node_},
                "chipweave.dev/agent",
                node_,
                !cleared && fault.effect != Effect::note,
                cleared ? "FaultCleared" : reason_of(fault.effect),
                "Watching",
                std::move(note)});
}

}  // namespace chipweave::agent
