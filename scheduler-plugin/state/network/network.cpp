#include "scheduler-plugin/state/network/network.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {
namespace {

bool names_labels(NetworkSource source) {
  return source == NetworkSource::kueue || source == NetworkSource::kai ||
         source == NetworkSource::koordinator;
}

bool is_table(NetworkSource source) {
  return source == NetworkSource::file || source == NetworkSource::configmap ||
         source == NetworkSource::hypernodes;
}

bool all_unknown(const NetworkPath& path) {
  return std::all_of(path.begin(), path.end(),
                     [](const std::string& element) { return element.empty(); });
}

std::vector<domain::LabelLevel> levels_of_labels(const std::vector<std::string>& labels) {
  std::vector<domain::LabelLevel> out;
  out.reserve(labels.size());
  for (const std::string& label : labels) out.push_back({label, {label}});
  return out;
}

}  // namespace

Network::Network(NodeTable& nodes) : nodes_(nodes), domains_(1) { configure(Options{}); }

void Network::configure(const Options& options) {
  for (auto& source : sources_) source.reset();
  inventories_ = nullptr;
  for (const NetworkSource source : options.sources) {
    auto& slot = sources_[static_cast<std::size_t>(source)];
    if (is_table(source)) {
      slot = std::make_unique<TablePlaces>();
    } else if (source == NetworkSource::inventories) {
      auto made = std::make_unique<InventoryPlaces>();
      inventories_ = made.get();
      slot = std::move(made);
    } else {
      auto made = std::make_unique<LabelPlaces>(labels_, source == NetworkSource::labels);
      if (source == NetworkSource::labels) made->name_levels(levels_of_labels(options.levels));
      slot = std::move(made);
    }
    if (names_labels(source) || source == NetworkSource::hypernodes) labels_.keep_all();
  }
  labels_.keep(options.levels);
}

PlaceSource* Network::source_of(NetworkSource source) const {
  return sources_[static_cast<std::size_t>(source)].get();
}

TablePlaces* Network::table_of(NetworkSource source) const {
  return is_table(source) ? static_cast<TablePlaces*>(source_of(source)) : nullptr;
}

void Network::set_labels(const std::string& node, const NodeLabels::Map& labels,
                         const NodeLabels::Map& annotations) {
  if (labels_.set(node, labels, annotations)) touched_.insert(node);
}

void Network::drop_labels(const std::string& node) {
  if (labels_.drop(node)) touched_.insert(node);
}

void Network::set_inventory(const std::string& node, domain::NodeNetwork network) {
  if (inventories_ != nullptr && inventories_->set(node, std::move(network))) touched_.insert(node);
}

void Network::name_levels(NetworkSource source, std::vector<domain::LabelLevel> levels) {
  if (!names_labels(source) || source_of(source) == nullptr) return;
  static_cast<LabelPlaces*>(source_of(source))->name_levels(std::move(levels));
}

void Network::set_table(NetworkSource source, domain::NetworkTable table) {
  TablePlaces* places = table_of(source);
  if (places == nullptr) return;
  std::vector<std::string> changed = places->set(std::move(table));
  touched_.insert(std::make_move_iterator(changed.begin()), std::make_move_iterator(changed.end()));
}

void Network::set_problem(NetworkSource source, std::string problem) {
  problems_[static_cast<std::size_t>(source)] = std::move(problem);
}

void Network::arrived(NetworkSource source) {
  if ((awaited_ & bit(source)) == 0) return;
  awaited_ &= ~bit(source);
  // the levels so far were those of a part of the sources
  if (known()) may_rebuild_ = true;
}

void Network::tick(Clock::Steady now) {
  refresh();
  if (may_rebuild_) return rebuilt_.reset();
  if (!rebuilt_) rebuilt_ = now;
  if (now - *rebuilt_ < kLevelsStay) return;
  may_rebuild_ = true;
  rebuilt_.reset();
  refresh();
}

const Network& Network::current() const {
  const_cast<Network*>(this)->refresh();
  return *this;
}

bool Network::may_rebuild() const { return may_rebuild_ || placed_count_ <= kFewNodes; }

bool Network::levels_changed() const {
  const bool other = std::any_of(sources_.begin(), sources_.end(), [](const auto& source) {
    return source != nullptr && source->levels_changed();
  });
  return other || (shape_.accelerator_source() && nesting_.position() != shape_.nesting());
}

void Network::refresh() {
  if (inventories_ != nullptr) {
    for (std::string& node : inventories_->settle()) touched_.insert(std::move(node));
  }
  if (may_rebuild() && levels_changed()) return rebuild();
  const std::vector<NodeId> changed = nodes_.take_changed();
  remove_gone(changed);
  for (const NodeId id : changed) update(id);
  for (const std::string& name : std::exchange(touched_, {})) {
    const NodeId id = nodes_.find(name);
    if (id < placed_.size() && placed_[id].in) replace(id);
  }
  // The nodes may have made the accelerators nest elsewhere.
  if (may_rebuild() && levels_changed()) rebuild();
}

// All names of nodes that went first: another node may have one of them now.
void Network::remove_gone(const std::vector<NodeId>& ids) {
  for (const NodeId id : ids) {
    const Node& node = nodes_.node(id);
    const bool gone =
        !node.has_inventory() || (id < placed_.size() && placed_[id].life != node.life);
    if (!gone) continue;
    if (inventories_ != nullptr && id < placed_.size() && nodes_.find(placed_[id].name) == kNoNode)
      inventories_->set(placed_[id].name, {});
    leave(id);
  }
}

void Network::update(NodeId id) {
  const Node& node = nodes_.node(id);
  if (!node.has_inventory()) return;
  if (id >= placed_.size() || !placed_[id].in) return enter(id, place_of(node.name));
  for (const auto& fabric : fabrics_) fabric->set(id, node, placed_[id].path, placed_[id].leaves);
}

void Network::replace(NodeId id) {
  Place now = place_of(placed_[id].name);
  const Placed& before = placed_[id];
  if (before.switches == now.switches && before.accelerator == now.accelerator &&
      before.source == now.source) {
    set_conflict(before.name, std::move(now.conflict));
    return take_leaves(id);
  }
  leave(id);
  enter(id, std::move(now));
}

void Network::take_leaves(NodeId id) {
  Placed& placed = placed_[id];
  const std::vector<std::string>* rails = rails_of(placed.name);
  const bool same = rails == nullptr ? placed.leaves.empty() : *rails == placed.leaves;
  if (same) return;
  placed.leaves = rails == nullptr ? std::vector<std::string>() : *rails;
  for (const auto& fabric : fabrics_) fabric->set(id, nodes_.node(id), placed.path, placed.leaves);
  ++version_;
}

Network::Place Network::place_of(const std::string& node) const {
  struct Seen {
    std::size_t source;
    std::string element;
  };
  Place out;
  std::map<std::string_view, Seen> seen;  // by level
  bool decided = false;
  bool accelerator_decided = false;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i] == nullptr) continue;
    SourcePlace place = sources_[i]->place(node);
    const SourceLevels& levels = sources_[i]->levels();
    const auto compare = [&](const std::vector<domain::LabelLevel>& names,
                             const NetworkPath& path) {
      for (std::size_t level = 0; level < path.size(); ++level) {
        if (path[level].empty()) continue;
        const auto [at, fresh] = seen.try_emplace(names[level].name, Seen{i, path[level]});
        if (fresh || at->second.element == path[level] || out.conflict) continue;
        out.conflict = {names[level].name, static_cast<NetworkSource>(at->second.source),
                        at->second.element, static_cast<NetworkSource>(i), path[level]};
      }
    };
    compare(levels.levels, place.path);
    compare(levels.accelerators, place.accelerator);
    if (!decided && !place.path.empty() && shape_.has_levels_of(*sources_[i])) {
      decided = true;
      out.switches = shape_.switch_path(std::move(place.path));
      out.source = i;
    }
    if (!accelerator_decided && !place.accelerator.empty() &&
        shape_.has_accelerators_of(*sources_[i])) {
      accelerator_decided = true;
      out.accelerator = std::move(place.accelerator);
      if (!out.source) out.source = i;
    }
  }
  if (!decided) out.switches.resize(shape_.switch_levels());
  return out;
}

bool Network::is_placed(const Placed& placed) const {
  return shape_.levels().size() == 1 || !all_unknown({placed.path.begin(), placed.path.end() - 1});
}

void Network::enter(NodeId id, Place place) {
  if (placed_.size() <= id) placed_.resize(nodes_.size());
  const Node& node = nodes_.node(id);
  Placed& placed = placed_[id];
  placed.in = true;
  placed.life = node.life;
  placed.name = node.name;
  placed.path = shape_.whole_path(place.switches, place.accelerator, node.name);
  placed.switches = std::move(place.switches);
  placed.accelerator = std::move(place.accelerator);
  placed.source = place.source;
  if (const std::vector<std::string>* rails = rails_of(node.name)) placed.leaves = *rails;
  nesting_.add(placed.switches, placed.accelerator);
  count_domains(placed.path, true);
  if (placed.source) ++placed_by_[*placed.source];
  if (!is_placed(placed)) ++without_place_;
  set_conflict(node.name, std::move(place.conflict));
  for (const auto& fabric : fabrics_) fabric->set(id, node, placed.path, placed.leaves);
  ++placed_count_;
  ++placements_;
  ++version_;
}

void Network::leave(NodeId id) {
  if (id >= placed_.size() || !placed_[id].in) return;
  Placed& placed = placed_[id];
  nesting_.remove(placed.switches, placed.accelerator);
  count_domains(placed.path, false);
  if (placed.source) --placed_by_[*placed.source];
  if (!is_placed(placed)) --without_place_;
  set_conflict(placed.name, std::nullopt);
  for (const auto& fabric : fabrics_) fabric->remove(id);
  placed = {};
  --placed_count_;
  ++version_;
}

void Network::count_domains(const NetworkPath& path, bool enter) {
  std::string domain;
  for (std::size_t level = 0; level < path.size() && !path[level].empty(); ++level) {
    append_element(domain, path[level]);
    if (enter) {
      ++domains_[level][domain];
      continue;
    }
    const auto at = domains_[level].find(domain);
    if (--at->second == 0) domains_[level].erase(at);
  }
}

void Network::set_conflict(const std::string& node, std::optional<NetworkConflict> conflict) {
  const auto at = conflicts_.find(node);
  if (at == conflicts_.end() ? !conflict : conflict && at->second == *conflict) return;
  ++conflict_version_;
  if (conflict) {
    conflicts_[node] = *std::move(conflict);
  } else {
    conflicts_.erase(at);
  }
}

void Network::rebuild() {
  may_rebuild_ = may_rebuild_ && placed_count_ <= kFewNodes;
  std::vector<const PlaceSource*> sources;
  for (const auto& source : sources_) {
    if (source != nullptr) source->take_levels();
    sources.push_back(source.get());
  }
  shape_ = NetworkShape(sources);
  touched_.clear();
  (void)nodes_.take_changed();
  std::vector<std::pair<NodeId, Place>> all;
  nesting_ = LevelNesting(shape_.switch_levels());
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (!nodes_.node(id).has_inventory()) continue;
    all.emplace_back(id, place_of(nodes_.node(id).name));
    nesting_.add(all.back().second.switches, all.back().second.accelerator);
  }
  shape_.nest(nesting_.position());
  nesting_ = LevelNesting(shape_.switch_levels());
  placed_.clear();
  placed_count_ = without_place_ = 0;
  placed_by_ = {};
  domains_.assign(shape_.levels().size(), {});
  const auto conflicts = std::exchange(conflicts_, {});
  const std::uint64_t conflict_version = conflict_version_;
  for (const auto& fabric : fabrics_) fabric->reset(shape_.levels().size());
  for (auto& [id, place] : all) enter(id, std::move(place));
  conflict_version_ = conflict_version + (conflicts == conflicts_ ? 0 : 1);
  ++version_;
}

ResourceFabric& Network::fabric_of(const std::string& resource) {
  refresh();
  const auto known = std::find_if(fabrics_.begin(), fabrics_.end(),
                                  [&](const auto& one) { return one->resource() == resource; });
  if (known != fabrics_.end()) return **known;
  auto made = std::make_unique<ResourceFabric>(resource, shape_.levels().size());
  for (NodeId id = 0; id < placed_.size(); ++id) {
    if (placed_[id].in) made->set(id, nodes_.node(id), placed_[id].path, placed_[id].leaves);
  }
  fabrics_.push_back(std::move(made));
  return *fabrics_.back();
}

std::vector<std::string> Network::path_of(const std::string& node) const {
  const Network& now = current();
  const NodeId id = nodes_.find(node);
  if (id >= now.placed_.size() || !now.placed_[id].in) return {};
  return now.placed_[id].path;
}

const std::vector<std::string>* Network::rails_of(const std::string& node) const {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const TablePlaces* table = table_of(static_cast<NetworkSource>(i));
    const std::vector<std::string>* rails = table == nullptr ? nullptr : table->rails_of(node);
    if (rails != nullptr) return rails;
  }
  const domain::NodeNetwork* network = inventories_ == nullptr ? nullptr : inventories_->find(node);
  return network == nullptr || network->rails.empty() ? nullptr : &network->rails;
}

std::vector<Network::SourceState> Network::sources() const {
  std::vector<SourceState> out;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i] == nullptr) continue;
    const auto source = static_cast<NetworkSource>(i);
    std::string problem = problems_[i];
    const bool reads_labels = source == NetworkSource::labels || names_labels(source);
    if (problem.empty() && reads_labels && labels_.full()) {
      problem = "more than " + std::to_string(NodeLabels::kMaxNodes) +
                " nodes: the labels of the others are not read";
    }
    out.push_back({source, sources_[i]->levels(), placed_by_[i], std::move(problem)});
  }
  return out;
}

}  // namespace chipweave::sched
