#include "scheduler-plugin/kube/gang_gate.hpp"

#include <algorithm>

#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched {

bool wants_gate(const codec::KubePod& pod, const ResourceTable& resources,
                const GateOptions& options) {
  if (!pod.node_name.empty() || has_gang_gate(pod)) return false;
  const auto mark = gang_mark_of(pod);
  if (mark == nullptr || std::find(options.frameworks.begin(), options.frameworks.end(),
                                   mark->framework) == options.frameworks.end())
    return false;
  return count_request(pod, resources).request.chips > 0;
}

bool has_gang_gate(const codec::KubePod& pod) {
  return std::find(pod.gates.begin(), pod.gates.end(), kGangGate) != pod.gates.end();
}

bool has_foreign_gates(const codec::KubePod& pod) {
  return std::any_of(pod.gates.begin(), pod.gates.end(),
                     [](const std::string& gate) { return gate != kGangGate; });
}

// Where all pods of a gang are alike, there is nothing to plan without chips, and there may be
// many.
std::shared_ptr<const GangMark> planned_mark_of(const codec::KubePod& pod, int chips) {
  auto mark = gang_mark_of(pod);
  if (chips > 0 || mark == nullptr) return mark;
  const gangs::Framework* framework = gangs::framework_called(mark->framework);
  return framework != nullptr && framework->one_template ? nullptr : mark;
}

std::shared_ptr<const domain::NodeWishes> own_wishes(
    const codec::KubePod& pod, const std::shared_ptr<const domain::NodeWishes>& like) {
  auto out = pod.nodes;
  if (out != nullptr) {
    const domain::WishesSize size = domain::size_of(*out);
    if (size.parts > kMaxWishes || size.values > kMaxWishedValues) return nullptr;
  }
  const bool opened = !has_gang_gate(pod) && pod.annotations.contains(kGangPlanAnnotation);
  if (out != nullptr && opened)
    out = std::make_shared<const domain::NodeWishes>(domain::without_pin(*out));
  const bool same = out != nullptr && like != nullptr && *out == *like;
  return same ? like : out;
}

}  // namespace chipweave::sched
