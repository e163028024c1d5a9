#include "scheduler-plugin/kube/dra/hand_over_check.hpp"

#include <chrono>
#include <map>
#include <utility>

namespace chipweave::sched {

void HandOverCheck::check(bool known) {
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_.node(id);
    if (node.enforcement != domain::Enforcement::dra || !node.has_inventory()) {
      if (seen_.erase(id) > 0) sink_.withhold(node.name, {});
      continue;
    }
    Seen now{node.life, node.boot_id, node.sequence, devices_.version_of(node.name), known};
    Seen& last = seen_[id];
    if (last == now) continue;
    last = std::move(now);
    sink_.withhold(node.name, withheld_on(node, known));
  }
}

std::vector<domain::Fault> HandOverCheck::withheld_on(const Node& node, bool known) const {
  std::map<int, std::string> why;
  if (!known) {
    for (const domain::Chip& chip : node.topology.chips())
      why.emplace(chip.index.value, "the ResourceSlices of DRA drivers are not known yet");
  } else {
    why = kube::not_handed_over(devices_, node.name, node.resources, node.topology);
  }
  std::vector<domain::Fault> out;
  for (auto& [chip, text] : why) {
    domain::Fault fault;
    fault.code = kNotHandedOver;
    fault.effect = domain::Effect::unusable;
    fault.chip = domain::ChipIndex{chip};
    fault.text = std::move(text);
    fault.since =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch())
            .count();
    // one that stays keeps its time, so that it is the same fault
    for (const domain::Fault& before : node.withheld) {
      if (before.chip == fault.chip && before.text == fault.text) fault.since = before.since;
    }
    out.push_back(std::move(fault));
  }
  return out;
}

}  // namespace chipweave::sched
