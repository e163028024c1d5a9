#include "node-agent/device_plugin/core/choice.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::device_plugin {
namespace {

// The `size` best of a pool with what must be in it; without a legal set the lowest chips: the
// kubelet has counted them for the pod already.
std::optional<ChipSet> best_of(ChipSet pool, ChipSet required, int size, const Devices& devices) {
  pool |= required;
  if (pool.size() < size) return std::nullopt;
  solver::Request request;
  request.usable = pool;
  request.required = required;
  request.size = size;
  if (const solver::Choice best = devices.machine().choose(request); best.fits) return best.chips;
  ChipSet out = required;
  for (const int slot : pool) {
    if (out.size() == size) break;
    out.insert(slot);
  }
  return out;
}

ChipSet held_by(const Listed& list, const PodRecord& pod, const Devices& devices) {
  ChipSet out;
  for (const Listed::Pod& listed : list.pods) {
    if (listed.key != pod.key) continue;
    for (const Listed::Container& container : listed.containers)
      out |= devices.chips(container.ids);
  }
  return out;
}

// An init container's chips go to the containers after it, in their order.
std::optional<ChipSet> part_of_init(const Decision& decision, const Asker& asker, const Ask& ask,
                                    const Devices& devices) {
  ChipSet out = ask.must_include;
  const auto add = [&](ChipSet part) {
    const int left = ask.size - out.size();
    part -= out;
    if (left <= 0) return;
    out |= part.size() <= left ? part : best_of(part, {}, left, devices).value_or(ChipSet());
  };
  for (const AskingContainer& container : asker.pod.containers) {
    const auto named = decision.parts.find(container.name);
    if (!container.init && named != decision.parts.end()) add(named->second);
  }
  add(decision.chips);
  return out.size() == ask.size ? std::optional(out) : std::nullopt;
}

std::optional<ChipSet> part_of(const Decision& decision, const Asker& asker, const Ask& ask,
                               const Listed& list, const Devices& devices) {
  if (asker.container.init && !decision.parts.empty())
    return part_of_init(decision, asker, ask, devices);
  if (!decision.parts.empty()) {
    const auto named = decision.parts.find(asker.container.name);
    return named == decision.parts.end() ? std::nullopt : std::optional(named->second);
  }
  // The decision does not split the chips between the containers.
  const ChipSet pool = decision.chips - held_by(list, asker.pod, devices);
  if (pool.size() == ask.size || !pool.contains(ask.must_include)) return pool;
  return best_of(pool, ask.must_include, ask.size, devices);
}

std::string chips_text(ChipSet chips, const Devices& devices) {
  return comma_list(devices.topology().indices(chips));
}

}  // namespace

ChipSet promised(const Listed& list, const PodBook& book, const Devices& devices,
                 const std::string& except) {
  ChipSet out;
  for (const auto& entry : book.pods()) {
    const PodRecord& pod = entry.second;
    if (pod.over || pod.uid == except || pod.containers.empty()) continue;
    const auto listed = std::find_if(list.pods.begin(), list.pods.end(),
                                     [&](const Listed::Pod& one) { return one.key == pod.key; });
    const bool has_all =
        listed != list.pods.end() &&
        std::all_of(pod.containers.begin(), pod.containers.end(),
                    [&](const AskingContainer& c) { return c.init || listed->has_chips(c.name); });
    if (has_all) continue;
    if (const auto decision = read_decision(pod, book.node(), book.resource(), devices))
      out |= decision->chips;
  }
  return out;
}

Result<Choice> choose_best(const Ask& ask, ChipSet promised, const Devices& devices) {
  const ChipSet usable = (ask.available & devices.healthy()) - promised;
  if (const auto best = best_of(usable, ask.must_include, ask.size, devices))
    return Choice{*best, Choice::By::selector, ""};
  return make_error(Errc::conflict, concat(ask.size, " chips asked, ", usable.size(),
                                           " are free, healthy and not promised to other pods"));
}

Result<Choice> choose_chips(const Ask& ask, const std::optional<Asker>& asker,
                            const std::string& unknown, const Listed& list, const PodBook& book,
                            const Devices& devices, OnMismatch policy) {
  const ChipSet others = promised(list, book, devices, asker ? asker->pod.uid : "");
  std::string why = unknown;
  if (asker && asker->pod.placement.empty()) return choose_best(ask, others, devices);
  if (asker) {
    const auto decision = read_decision(asker->pod, book.node(), book.resource(), devices);
    if (!decision) {
      why = decision.error().text();
    } else {
      const auto part = part_of(*decision, *asker, ask, list, devices);
      const ChipSet usable = (ask.available & devices.healthy()) | ask.must_include;
      if (!part || part->size() != ask.size) {
        why = concat("its decision has no ", ask.size, " chips for container ",
                     asker->container.name);
      } else if (!part->contains(ask.must_include)) {
        why = concat("an init container had chips ", chips_text(ask.must_include, devices),
                     ", which are not among those of its decision, ", chips_text(*part, devices));
      } else if (!usable.contains(*part)) {
        why = concat("chips ", chips_text(*part - usable, devices),
                     " of its decision are not free or not healthy");
      } else if (asker->pod.gone && part->intersects(others)) {
        why = "it was deleted, and its chips are promised to another pod";
      } else {
        return Choice{*part, Choice::By::decision, ""};
      }
    }
  }
  if (policy == OnMismatch::refuse) return make_error(Errc::conflict, why);
  auto best = choose_best(ask, others, devices);
  if (!best) return make_error(Errc::conflict, why + "; " + best.error().text());
  best->by = Choice::By::adopted;
  best->why_adopted = why;
  return best;
}

}  // namespace chipweave::device_plugin
