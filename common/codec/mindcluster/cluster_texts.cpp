#include "common/codec/mindcluster/cluster_texts.hpp"

#include <algorithm>

namespace chipweave::codec::mindcluster {

bool ClusterTexts::put(const std::string& node, ClusterEntry entry, std::int64_t now) {
  const auto [at, fresh] = nodes_.try_emplace(node);
  Kept& kept = at->second;
  if (!fresh && kept.entry == entry) return false;
  kept.entry = std::move(entry);
  kept.time = fresh ? now : std::max(now, kept.time + 1);
  if (fresh) arranged_ = false;
  touched(kept);
  return true;
}

bool ClusterTexts::erase(const std::string& node) {
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return false;
  if (at->second.part != kNone) parts_[at->second.part].others = true;
  nodes_.erase(at);
  arranged_ = false;
  return true;
}

void ClusterTexts::touched(const Kept& kept) {
  if (kept.part != kNone) parts_[kept.part].changed = true;
}

bool ClusterTexts::renew(std::int64_t now, std::int64_t after,
                         const std::function<bool(const std::string& node)>& lives) {
  arrange();
  Part* oldest = nullptr;
  for (Part& part : parts_) {
    // A new part, or the clock was set back.
    if (part.renewed == 0 || part.renewed > now) part.renewed = now;
    if (oldest == nullptr || part.renewed < oldest->renewed) oldest = &part;
  }
  if (oldest == nullptr || now - oldest->renewed < after) return false;
  oldest->renewed = now;
  bool any = false;
  for (auto* node : oldest->nodes) {
    Kept& kept = node->second;
    if (kept.time >= now || !lives(node->first)) continue;
    kept.time = now;
    any = true;
  }
  oldest->changed = oldest->changed || any;
  return any;
}

// Assigns nodes to parts again after some were added or removed.
void ClusterTexts::arrange() {
  if (std::exchange(arranged_, true)) return;
  const std::size_t count = (nodes_.size() + most_ - 1) / most_;
  parts_.resize(std::max(parts_.size(), count));
  std::size_t place = 0;
  for (auto& [name, kept] : nodes_) {
    const std::size_t part = place++ / most_;
    if (kept.part == part) continue;
    if (kept.part != kNone) parts_[kept.part].others = true;
    parts_[part].others = true;
    kept.part = part;
  }
  parts_.resize(count);
  for (Part& part : parts_) {
    if (part.others) part.nodes.clear();
  }
  for (auto& node : nodes_) {
    Part& part = parts_[node.second.part];
    if (part.others) part.nodes.push_back(&node);
  }
  for (Part& part : parts_) {
    if (!std::exchange(part.others, false)) continue;
    std::sort(part.nodes.begin(), part.nodes.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    part.changed = true;
  }
}

ClusterTexts::Text ClusterTexts::join(const Part& part) const {
  constexpr std::size_t kTimeBytes = 21;  // with a comma
  std::size_t size = 2;
  for (const auto* node : part.nodes) {
    const ClusterEntry& entry = node->second.entry;
    size += entry.before.size() + entry.after.size() + kTimeBytes;
  }
  auto out = std::make_shared<std::string>();
  out->reserve(size);
  *out += '{';
  for (const auto* node : part.nodes) {
    if (out->size() > 1) *out += ',';
    const auto& [entry, time, part_of] = node->second;
    *out += entry.before;
    if (entry.timed) *out += std::to_string(time);
    *out += entry.after;
  }
  *out += '}';
  return out;
}

const std::map<std::string, ClusterTexts::Text>& ClusterTexts::texts() {
  arrange();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (std::exchange(parts_[i].changed, false))
      texts_[name_ + std::to_string(i)] = join(parts_[i]);
  }
  for (std::size_t i = parts_.size(); texts_.size() > parts_.size(); ++i) {
    texts_.erase(name_ + std::to_string(i));
  }
  return texts_;
}

}  // namespace chipweave::codec::mindcluster
