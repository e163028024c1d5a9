#include "scheduler-plugin/app/gangs/gang_status.hpp"

#include <algorithm>

#include "common/base/count_of.hpp"

namespace chipweave::sched {
namespace {

std::string missing(const Gang& gang, int pods, int quorum) {
  return "waits for " + count_of(quorum - pods, "pod") + ": " + std::to_string(quorum) +
         " must start together" +
         (gang.spec.size && *gang.spec.size > quorum
              ? " (of " + std::to_string(*gang.spec.size) + ")"
              : std::string());
}

}  // namespace

std::string_view to_string(GangState state) {
  switch (state) {
    case GangState::ungrouped:
      return "ungrouped";
    case GangState::gathering:
      return "gathering";
    case GangState::waiting:
      return "waiting";
    case GangState::planned:
      return "planned";
    case GangState::running:
      return "running";
  }
  return "";
}

GangState GangView::stage(const Gang& gang) const {
  if (!gangs_.on() || !gangs_.plans(gang)) return GangState::ungrouped;
  if (plans_.find(gang.id) != nullptr) return GangState::planned;
  return gang.complete() ? GangState::waiting : GangState::gathering;
}

GangStatus GangView::status(const Gang& gang) const {
  GangStatus out;
  out.quorum = gang.quorum();
  int foreign = 0;
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    if (pod == nullptr) continue;
    ++out.pods;
    out.gated += pod->gated ? 1 : 0;
    out.bound += pod->node.empty() ? 0 : 1;
    foreign += pod->foreign_gates ? 1 : 0;
  }
  out.state = stage(gang);
  if (out.state == GangState::ungrouped) return out;
  if (out.bound >= out.quorum) {
    out.state = GangState::running;
  } else if (out.state == GangState::planned) {
    out.why = std::to_string(out.bound) + " of " + std::to_string(out.quorum) + " pods are bound";
    if (const std::string why = gangs_.why_not(gang.id); !why.empty()) out.why += "; " + why;
  } else if (out.state == GangState::gathering) {
    out.why = missing(gang, out.pods, out.quorum);
  } else {
    const std::string why = why_it_waits(gang);
    if (foreign > 0) {
      out.why = count_of(foreign, "pod") + (foreign == 1 ? " waits" : " wait") +
                " behind scheduling gates of others";
    } else if (!why.empty()) {
      out.why = why;
    } else {
      out.why = out.gated > 0 ? "other gangs come first"
                              : "its scheduler has not asked for any of its pods yet";
    }
  }
  return out;
}

std::string GangView::why_it_waits(const Gang& gang) const {
  if (std::string why = preemption_.why(gang.id); !why.empty()) return why;
  std::string why = gangs_.why_not(gang.id);
  if (const std::string kept = keeping_.why(gang.id); !kept.empty())
    why += (why.empty() ? "it " : "; it ") + kept;
  const std::string alone = preemption_.why_not(gang.id);
  return why.empty() || alone.empty() ? why : why + "; no pods end for it: " + alone;
}

std::string GangView::json(const Gang& gang, bool whole) const {
  const GangStatus now = status(gang);
  JsonWriter w;
  w.begin_object().field("namespace", gang.ns).field("name", gang.name);
  w.field("framework", gang.framework).field("state", to_string(now.state));
  w.key("pods").integer(now.pods).key("gated").integer(now.gated).key("bound").integer(now.bound);
  w.key("quorum").integer(now.quorum);
  if (gang.spec.size) w.key("size").integer(*gang.spec.size);
  w.field("summary", now.why);
  w.field("problem", gang.spec.problem);
  if (const GangPlan* plan = plans_.find(gang.id)) write_plan(w, gang, *plan, whole);
  return w.end_object().take();
}

void GangView::write_spares(JsonWriter& w, const Gang& gang) const {
  w.key("spares").begin_array();
  for (const GangSeat& seat : gangs_.spares().seats(gang.id)) {
    const Node& node = state_.nodes.node(seat.node);
    w.begin_object()
        .field("node", node.name)
        .key("path")
        .strings(state_.network.path_of(node.name));
    w.key("chips").integers(node.topology.indices(seat.chips)).end_object();
  }
  w.end_array();
}

void GangView::write_plan(JsonWriter& w, const Gang& gang, const GangPlan& plan, bool whole) const {
  w.key("plan").begin_object().field("id", plan.id).key("domains").begin_object();
  const std::vector<std::string>& levels = state_.network.levels();
  for (std::size_t i = 0; i < std::min(levels.size(), plan.domains.size()); ++i)
    w.key(levels[i]).integer(plan.domains[i]);
  w.end_object();
  if (plan.gbps) w.key("gbps").number(*plan.gbps);
  w.key("optimal").boolean(plan.optimal);
  if (gang.spares > 0) write_spares(w, gang);
  if (whole) {
    w.key("slots").begin_array();
    for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
      const GangSlot& slot = plan.slots[rank];
      const Holding* held = plans_.holding_of(slot);
      const auto pod = gang.members.find(slot.uid);
      w.begin_object().key("rank").integer(static_cast<std::int64_t>(rank));
      w.field("role", slot.role);
      if (slot.index) w.key("index").integer(*slot.index);
      w.field("pod", pod == gang.members.end() ? "" : pod->second.name);
      w.field("state", held == nullptr ? "open" : held->bound ? "bound" : "reserved");
      if (held != nullptr) {
        const Node& node = state_.nodes.node(held->node);
        w.field("node", node.name).key("path").strings(state_.network.path_of(node.name));
        w.key("chips").integers(node.topology.indices(held->chips));
      }
      w.end_object();
    }
    w.end_array();
  }
  w.end_object();
}

}  // namespace chipweave::sched
