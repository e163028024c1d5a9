#include "node-agent/publish/kube/node_events.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace chipweave::agent {
namespace {

using domain::Effect;

// Many faults at once must not flood the cluster: the inventory has all of them.
constexpr std::size_t kMaxWaiting = 256;
constexpr double kPerSecond = 0.2;
constexpr int kAtOnce = 25;
// The slowest source to report its faults again: hccn_tool of the last of 16 chips.
constexpr std::chrono::minutes kSuppressFor{3};

kube::EventLimits limits_of(const std::string& node) {
  kube::EventLimits out;
  out.max_waiting = kMaxWaiting;
  out.per_second = kPerSecond;
  out.at_once = kAtOnce;
  out.seed = std::hash<std::string>()(node);
  return out;
}

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
    : clock_(clock), node_(std::move(node)), sender_(transport, clock, limits_of(node_)) {}

void NodeEvents::fault(const FaultChange& change) {
  if (begun_) {
    if (!is_known(change)) send(change);
    return;
  }
  if (held_.size() >= kMaxWaiting) {
    held_.pop_front();
    ++dropped_;
  }
  held_.push_back(change);
}

void NodeEvents::begin(std::vector<domain::Fault> known) {
  known_ = std::move(known);
  suppress_until_ = clock_.now() + kSuppressFor;
  begun_ = true;
  for (const FaultChange& change : std::exchange(held_, {})) fault(change);
}

kube::EventSender::Stats NodeEvents::stats() const {
  kube::EventSender::Stats out = sender_.stats();
  out.dropped += dropped_;
  return out;
}

bool NodeEvents::is_known(const FaultChange& change) {
  if (clock_.now() > suppress_until_) known_.clear();
  const domain::Fault& fault = change.fault;
  const auto before = std::find_if(known_.begin(), known_.end(), [&fault](const auto& one) {
    return domain::same_cause(one, fault);
  });
  if (before == known_.end()) return false;
  const bool same = before->effect == fault.effect && before->lanes == fault.lanes;
  known_.erase(before);
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
