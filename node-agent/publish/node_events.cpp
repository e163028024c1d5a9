#include "node-agent/publish/node_events.hpp"

#include <utility>

namespace chipweave::agent {
namespace {

using domain::Effect;

// A machine that goes to pieces must not flood the cluster: the inventory has all of it.
constexpr kube::EventLimits kLimits{256, 0.2, 25};

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
    : node_(std::move(node)), sender_(transport, clock, kLimits) {}

void NodeEvents::fault(const FaultChange& change) {
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
