#include "common/codec/ranktable/lint/renumber.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "common/codec/ranktable/rank_table.hpp"

namespace chipweave::codec::ranktable {
namespace {

// The array that the objects are elements of; kNone if there are fewer than two.
JsonTree::Id array_of(const JsonTree& tree, JsonTree::Id owner, JsonTree::Id element) {
  for (auto c = tree.first(owner); c != JsonTree::kNone; c = tree.next(owner, c)) {
    if (tree.is(c, JsonTree::Kind::array) && tree.offset(c) < tree.offset(element) &&
        tree.offset(element) < tree.end_offset(c)) {
      return c;
    }
  }
  return JsonTree::kNone;
}

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

std::int64_t rank_of(const Device& device) { return device.rank_id.value_or(kUnknown); }
std::int64_t rank_of(const LayeredRank& rank) { return rank.rank_id.value_or(kUnknown); }
std::int64_t rank_of(const Server& server) {
  std::int64_t least = server.rank_id.value_or(kUnknown);
  for (const Device& device : server.devices) least = std::min(least, rank_of(device));
  return least;
}

// 1 if the list was not in order.
template <class T>
std::size_t sort_list(const JsonTree& tree, JsonTree::Id owner, const std::vector<T>& list,
                      Edits& edits) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rank_of(list[a]) < rank_of(list[b]);
  });
  if (std::is_sorted(order.begin(), order.end())) return 0;
  const JsonTree::Id array = array_of(tree, owner, list.front().source.node);
  if (array == JsonTree::kNone) return 0;
  edits.reorder(array, std::move(order));
  return 1;
}

}  // namespace

std::size_t set_ranks(const JsonTree& tree, const std::vector<NewRank>& ranks, Dialect dialect,
                      Edits& edits) {
  std::size_t changed = 0;
  for (const auto& [source, rank] : ranks) {
    const JsonTree::Id member = tree.member(source.node, "rank_id");
    if (member == JsonTree::kNone) continue;
    std::string text = std::to_string(rank);
    if (tree.text(member) != text) ++changed;
    if (dialect != Dialect::hccl_2_0) text = '"' + text + '"';
    if (tree.raw(member) != text) edits.replace(member, std::move(text));
  }
  return changed;
}

std::size_t sort_lists(const JsonTree& tree, const RankTable& table, Edits& edits) {
  std::size_t changed = 0;
  if (table.dialect == Dialect::hccl_2_0) {
    return table.ranks.empty() ? 0 : sort_list(tree, table.source.node, table.ranks, edits);
  }
  // Ranks of these restart in every server, and the position of a server is its instance number.
  const bool keep_servers = table.dialect == Dialect::modelarts_global ||
                            table.dialect == Dialect::mindie_global ||
                            table.dialect == Dialect::vllm_ascend;
  for (const Group& group : table.groups) {
    for (const Server& server : group.servers) {
      if (!server.devices.empty()) {
        changed += sort_list(tree, server.source.node, server.devices, edits);
      }
    }
    if (!keep_servers && !group.servers.empty()) {
      changed += sort_list(tree, group.source.node, group.servers, edits);
    }
  }
  return changed;
}

}  // namespace chipweave::codec::ranktable
