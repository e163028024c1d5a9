#include "cli/place_engine.hpp"

#include <algorithm>

#include "common/io/files.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipIndex;
using domain::ChipSet;
using domain::NodeTopology;

constexpr std::size_t kMaxCached = 1024;  // machines of one batch kept at a time

// Chip indices of one key as a set of slots; chips the machine does not have are an error that
// names the key.
Result<ChipSet> slots(const NodeTopology& t, const std::vector<int>& indices,
                      const std::string& key) {
  ChipSet out;
  for (const int i : indices) {
    const auto slot = t.slot_of(ChipIndex{i});
    if (!slot) {
      std::string has;
      for (const int known : t.indices(t.all())) {
        if (has.size() > 60) {
          has += ", …";
          break;
        }
        has += (has.empty() ? "" : ", ") + std::to_string(known);
      }
      return make_error(Errc::invalid_argument,
                        key + ": unknown chip " + std::to_string(i) + "; known: " + has);
    }
    out.insert(*slot);
  }
  return out;
}

std::string chip_names(const NodeTopology& t, ChipSet set) {
  std::string out;
  for (const int i : t.indices(set)) out += (out.empty() ? "" : ", ") + std::to_string(i);
  return out;
}

}  // namespace

Result<codec::ImportedTopology> PlaceEngine::imported(const codec::PlaceRequest& request) {
  const std::string key = request.inline_machine.empty() ? request.machine : request.inline_machine;
  const auto known = imported_.find(key);
  if (known != imported_.end()) return known->second;
  Result<codec::ImportedTopology> made =
      request.inline_machine.empty() ? io::load_machine(request.machine)
                                     : codec::import_topology_json(request.inline_machine, {});
  if (!made) return std::move(made).error().in("machine");
  made->topology = domain::calibrated(made->topology, overlays_);
  if (imported_.size() >= kMaxCached) imported_.clear();
  imported_.emplace(key, *made);
  return made;
}

void PlaceEngine::provide(const std::string& name, codec::ImportedTopology machine) {
  machine.topology = domain::calibrated(machine.topology, overlays_);
  imported_.insert_or_assign(name, std::move(machine));
}

Result<PlaceEngine::Prepared> PlaceEngine::prepare(const codec::PlaceRequest& r) {
  Result<codec::ImportedTopology> found = imported(r);
  if (!found) return std::move(found).error();
  NodeTopology t = std::move(found->topology);
  Prepared out;
  out.warnings = std::move(found->warnings);
  out.host = std::move(found->host);
  out.numa_stated = found->cpu_ranges.empty();
  std::string key = (r.inline_machine.empty() ? r.machine : r.inline_machine) + "\n";
  for (std::size_t i = 0; i < r.down_links.size(); ++i) {
    const domain::DownLink& d = r.down_links[i];
    const std::string where = "down_links[" + std::to_string(i) + "]";
    const auto ends = slots(t, {d.a.value, d.b.value}, where);
    if (!ends) return ends.error();
    const int a = *t.slot_of(d.a);
    const int b = *t.slot_of(d.b);
    const domain::DirectLink* link = t.link(a, b);
    const int lanes = d.lanes.value_or(link == nullptr ? 0 : link->lanes);
    if (!t.take_down(a, b, lanes)) {
      out.warnings.push_back(where + ": chips " + std::to_string(d.a.value) + " and " +
                             std::to_string(d.b.value) + " have no direct link");
    }
    key += std::to_string(std::min(a, b)) + "-" + std::to_string(std::max(a, b)) + ":" +
           std::to_string(lanes) + ";";
  }
  const auto free = r.free ? slots(t, *r.free, "free") : Result<ChipSet>(t.all());
  const auto unhealthy = slots(t, r.unhealthy, "unhealthy");
  const auto network = slots(t, r.network_unhealthy, "network_unhealthy");
  const auto required = slots(t, r.required, "required");
  const auto beside = slots(t, r.beside, "beside");
  const auto loaded = slots(t, r.loaded, "loaded");
  const auto chips = slots(t, r.chips.value_or(std::vector<int>{}), "chips");
  for (const auto* set : {&free, &unhealthy, &network, &required, &beside, &loaded, &chips}) {
    if (!*set) return set->error();
  }
  out.unusable = *unhealthy | t.unhealthy();
  if (r.distributed) out.unusable |= *network | t.network_unhealthy();
  out.evaluate = *chips;
  if (const ChipSet both = *loaded & *beside; !both.empty())
    return make_error(Errc::invalid_argument, "loaded: chip " +
                                                  std::to_string(t.indices(both).front()) +
                                                  " is one of the job's own (beside)");
  out.request.usable = (out.evaluate.empty() ? *free : t.all()) - out.unusable - *beside - *loaded;
  out.request.required = *required;
  out.request.already_held = *beside;
  out.request.loaded = *loaded;
  out.request.size = out.evaluate.empty() ? r.size.value_or(1) : out.evaluate.size();
  out.request.distributed = r.distributed;
  out.request.objective = r.objective;

  std::shared_ptr<solver::Machine>& machine = machines_[key];
  if (!machine) machine = std::make_shared<solver::Machine>(std::move(t));
  out.machine = machine;
  if (machines_.size() > kMaxCached) machines_.clear();
  return out;
}

PlaceEngine::Decided PlaceEngine::decide(const Prepared& p) {
  solver::Machine& m = *p.machine;
  if (p.evaluate.empty()) return {m.choose(p.request), true};
  Decided out;
  out.choice.chips = p.evaluate;
  out.choice.gbps = m.gbps(p.evaluate | p.request.already_held);
  out.choice.best_gbps = m.best_gbps(p.evaluate | p.request.already_held, p.request.distributed);
  out.legal = m.legal(p.evaluate, p.request.usable, p.request.distributed);
  out.choice.fits =
      out.legal && p.request.usable.contains(p.evaluate) && p.evaluate.contains(p.request.required);
  return out;
}

codec::PlaceAnswer PlaceEngine::answer(const Prepared& p, const Decided& d) {
  const NodeTopology& t = p.machine->topology();
  codec::PlaceAnswer out;
  out.fits = d.choice.fits;
  out.gbps = d.choice.gbps;
  out.best_gbps = d.choice.best_gbps;
  out.chips = t.indices(d.choice.chips);
  out.warnings = p.warnings;
  const ChipSet joint = d.choice.chips | p.request.already_held;
  if (p.request.objective == domain::Objective::all_to_all && joint.size() > 1)
    out.all_to_all_gbps = p.machine->all_to_all_gbps(joint);
  if (p.request.objective == domain::Objective::latency && joint.size() > 1)
    out.hops = p.machine->distance(joint).farthest;
  if (d.choice.fits && !d.choice.exact) out.bound = d.choice.bound;
  if (out.fits) return out;
  if (p.evaluate.empty()) {
    out.reason = p.machine->reason(p.request, d.choice);
  } else if (p.evaluate.intersects(p.unusable)) {
    out.reason = "chip " + chip_names(t, p.evaluate & p.unusable) + " may not be used (unhealthy)";
  } else if (p.evaluate.intersects(p.request.already_held)) {
    out.reason = "chip " + chip_names(t, p.evaluate & p.request.already_held) +
                 " is held by another pod of the job";
  } else if (!p.evaluate.contains(p.request.required)) {
    out.reason =
        "required chip " + chip_names(t, p.request.required - p.evaluate) + " is not in the set";
  } else {
    out.reason = "the vendor's rule " + std::string(domain::to_string(t.rule().kind)) +
                 " does not allow this set";
  }
  return out;
}

}  // namespace chipweave::cli
