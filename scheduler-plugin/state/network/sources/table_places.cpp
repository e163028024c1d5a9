#include "scheduler-plugin/state/network/sources/table_places.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {
namespace {

bool ends_with_nodes(const domain::NetworkTable& table) {
  return !table.levels.empty() && !table.nodes.empty() &&
         std::all_of(table.nodes.begin(), table.nodes.end(), [&](const auto& node) {
           return node.path.size() == table.levels.size() && node.path.back() == node.name;
         });
}

std::vector<domain::LabelLevel> levels_named(const std::vector<std::string>& names) {
  std::vector<domain::LabelLevel> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back({name, {}});
  return out;
}

NetworkPath path_on(NetworkPath path, std::size_t levels) {
  path.resize(levels);
  for (std::string& element : path) {
    if (!is_network_name(element)) element.clear();
  }
  return known_path(std::move(path));
}

}  // namespace

bool TablePlaces::none_knows(const Entries& entries, NetworkPath SourcePlace::*path) {
  return std::all_of(entries.begin(), entries.end(),
                     [path](const auto& entry) { return (entry.second.place.*path).empty(); });
}

std::vector<std::string> TablePlaces::set(domain::NetworkTable table) {
  Table made;
  if (ends_with_nodes(table)) {
    made.levels.node = std::move(table.levels.back());
    table.levels.pop_back();
  }
  made.levels.levels = levels_named(table.levels);
  made.levels.accelerators = levels_named(table.accelerator_levels);
  for (domain::NetworkNode& node : table.nodes) {
    Entry& entry = made.entries[node.name];
    entry.place.path = path_on(std::move(node.path), table.levels.size());
    entry.place.accelerator = path_on(std::move(node.accelerator), table.accelerator_levels.size());
    entry.rails = std::move(node.rails);
  }
  if (none_knows(made.entries, &SourcePlace::path)) made.levels.levels.clear();
  if (none_knows(made.entries, &SourcePlace::accelerator)) made.levels.accelerators.clear();
  if (made.levels != levels_) {
    next_ = std::move(made);
    return {};
  }
  next_.reset();
  std::swap(entries_, made.entries);
  std::vector<std::string> changed;
  for (const auto& [name, entry] : made.entries) {
    const SourcePlace now = place(name);
    const auto at = entries_.find(name);
    const bool same_rails =
        at == entries_.end() ? entry.rails.empty() : at->second.rails == entry.rails;
    if (now.path != entry.place.path || now.accelerator != entry.place.accelerator || !same_rails)
      changed.push_back(name);
  }
  for (const auto& [name, entry] : entries_) {
    if (made.entries.find(name) == made.entries.end()) changed.push_back(name);
  }
  return changed;
}

const std::vector<std::string>* TablePlaces::rails_of(const std::string& node) const {
  const auto at = entries_.find(node);
  return at == entries_.end() || at->second.rails.empty() ? nullptr : &at->second.rails;
}

void TablePlaces::take_levels() {
  if (!next_) return;
  levels_ = std::move(next_->levels);
  entries_ = std::move(next_->entries);
  next_.reset();
}

SourcePlace TablePlaces::place(const std::string& node) const {
  const auto at = entries_.find(node);
  return at == entries_.end() ? SourcePlace{} : at->second.place;
}

}  // namespace chipweave::sched
