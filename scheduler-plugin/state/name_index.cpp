#include "scheduler-plugin/state/name_index.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/natural_order.hpp"

namespace chipweave::sched {
namespace {

static_assert(limits::kMaxNameBytes <= NameIndex::kMaxBytes);

// Whether n bytes are equal. For names: inline, and no call for lengths of 8 and more.
inline bool same_bytes(const char* a, const char* b, std::size_t n) {
  if (n < sizeof(std::uint64_t)) return std::memcmp(a, b, n) == 0;
  const auto differ = [&](std::size_t at) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    return x ^ y;
  };
  std::uint64_t bits = differ(n - sizeof(std::uint64_t));
  for (std::size_t at = 0; at + sizeof(std::uint64_t) < n; at += sizeof(std::uint64_t)) {
    bits |= differ(at);
  }
  return bits == 0;
}

}  // namespace

NameIndex::Line::Line(std::string_view name) : bytes(static_cast<std::uint8_t>(name.size())) {
  name.copy(head.data(), kInline);
}

inline bool NameIndex::Line::may_be(std::string_view name) const {
  return name.size() == bytes &&
         same_bytes(head.data(), name.data(), std::min(name.size(), kInline));
}

inline bool NameIndex::is(NodeId id, std::string_view name) const {
  const Line& line = lines_[id];
  return line.may_be(name) && (line.whole() || names_[id] == name);
}

NodeId NameIndex::find(std::string_view name) const {
  if (slots_.empty()) return kNoNode;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = std::hash<std::string_view>{}(name)&mask;; at = (at + 1) & mask) {
    const NodeId id = slots_[at];
    if (id == kNoNode || is(id, name)) return id;
  }
}

// How many of the names match the trail one by one from `at` on; stores their ids in `ids`.
// The hot loop of every large request; plain pointers, because stores to ids could alias members.
inline std::size_t NameIndex::follow_trail(std::size_t at, std::span<const std::string_view> names,
                                           NodeId* ids) const {
  const NodeId* const trail = trail_.data() + at;
  const Line* const lines = lines_.data();
  const std::size_t end = std::min(names.size(), trail_.size() - at);
  std::size_t i = 0;
  for (; i < end; ++i) {
    const Line& line = lines[trail[i]];
    if (!line.may_be(names[i]) || (!line.whole() && names_[trail[i]] != names[i])) break;
    ids[i] = trail[i];
  }
  return i;
}

void NameIndex::find_all(std::span<const std::string_view> names, std::vector<NodeId>& ids) {
  constexpr std::size_t kSkips = 3;  // nodes that may be left out in a row
  ids.resize(names.size());
  std::size_t at = 0;  // in the trail, of the node that should come now
  std::size_t jumps = 0;
  bool as_known = true;
  for (std::size_t i = 0;; ++i) {
    const std::size_t followed = follow_trail(at, names.subspan(i), ids.data() + i);
    i += followed;
    at += followed;
    if (i == names.size()) break;
    as_known = as_known || followed > 0;
    std::size_t here = at;
    const std::size_t end = as_known ? std::min(at + 1 + kSkips, trail_.size()) : at;
    while (here < end && !is(trail_[here], names[i])) ++here;
    as_known = here < end;
    ids[i] = as_known ? trail_[here] : find(names[i]);
    if (ids[i] == kNoNode) continue;
    if (!on_trail(ids[i])) {
      add_to_trail(ids[i]);
    } else if (!as_known) {
      ++jumps;
    }
    at = place_[ids[i]] + 1;
  }
  if (jumps * 8 > names.size()) begin_trail(ids);
}

void NameIndex::add_to_trail(NodeId id) {
  place_[id] = static_cast<std::uint32_t>(trail_.size());
  trail_.push_back(id);
}

// Starts a trail with a new order; nodes that are not in it are appended as they appear.
void NameIndex::begin_trail(std::span<const NodeId> ids) {
  trail_.clear();
  for (const NodeId id : ids) {
    if (id != kNoNode && !on_trail(id)) add_to_trail(id);
  }
}

void NameIndex::put(NodeId id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = std::hash<std::string_view>{}(names_[id]) & mask;
  while (slots_[at] != kNoNode) at = (at + 1) & mask;
  slots_[at] = id;
}

void NameIndex::rebuild(std::size_t slots) {
  slots_.assign(slots, kNoNode);
  for (NodeId id = 0; id < names_.size(); ++id) put(id);
}

NodeId NameIndex::add(std::string name) {
  const auto id = static_cast<NodeId>(names_.size());
  lines_.emplace_back(name);
  names_.push_back(std::move(name));
  place_.push_back(0);
  if (names_.size() * 2 <= slots_.size()) {
    put(id);
  } else {
    rebuild(std::max<std::size_t>(64, slots_.size() * 2));
  }
  return id;
}

void NameIndex::rename(NodeId id, std::string name) {
  lines_[id] = Line(name);
  names_[id] = std::move(name);
  rebuild(slots_.size());
}

std::vector<NodeId> NameIndex::sorted() const {
  std::vector<NodeId> ids(names_.size());
  std::iota(ids.begin(), ids.end(), NodeId{0});
  std::sort(ids.begin(), ids.end(),
            [&](NodeId a, NodeId b) { return natural_less(names_[a], names_[b]); });
  return ids;
}

}  // namespace chipweave::sched
