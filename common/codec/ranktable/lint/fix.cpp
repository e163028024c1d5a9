#include "common/codec/ranktable/lint/fix.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/ranktable/edits.hpp"
#include "common/codec/ranktable/lint/renumber.hpp"
#include "common/codec/ranktable/schema/table_reader.hpp"

namespace chipweave::codec::ranktable {

namespace {

bool has_code(const LintedText& linted, std::string_view code) {
  return std::any_of(linted.findings.begin(), linted.findings.end(),
                     [&](const Located& each) { return each.code == code; });
}

// RT004: quotes around numbers; in 2.0 also none around numbers.
std::size_t fix_types(const LintedText& linted, Edits& edits) {
  const JsonTree& tree = *linted.tree;
  std::size_t changed = 0;
  for (const Located& each : linted.findings) {
    if (each.code != "RT004") continue;
    bool zeros = false;
    if (tree.is(each.node, JsonTree::Kind::number)) {
      edits.replace(each.node, '"' + std::string(tree.raw(each.node)) + '"');
      ++changed;
    } else if (linted.dialect == Dialect::hccl_2_0 && tree.is(each.node, JsonTree::Kind::string) &&
               strict_number(tree.text(each.node), zeros) && !zeros) {
      edits.replace(each.node, std::string(tree.text(each.node)));
      ++changed;
    }
  }
  return changed;
}

// RT011 and RT101: the list that a count counts.
std::size_t fix_counts(const LintedText& linted, Edits& edits) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLists = {
      {{"server_count", "server_list"},
       {"instance_count", "instance_list"},
       {"group_count", "group_list"},
       {"rank_count", "rank_list"}}};
  const JsonTree& tree = *linted.tree;
  std::size_t changed = 0;
  for (const Located& each : linted.findings) {
    if (each.code != "RT011" && each.code != "RT101") continue;
    const auto known = std::find_if(kLists.begin(), kLists.end(), [&](const auto& list) {
      return list.first == tree.name(each.node);
    });
    if (known == kLists.end() || each.owner == JsonTree::kNone) continue;
    const JsonTree::Id list = tree.member(each.owner, known->second);
    if (list == JsonTree::kNone || tree.child_count(list) == 0) continue;
    const std::string count = std::to_string(tree.child_count(list));
    edits.replace(each.node, linted.dialect == Dialect::hccl_2_0 ? count : '"' + count + '"');
    ++changed;
  }
  return changed;
}

// Devices in the order of their ranks; if ranks repeat, in the order of the text, as in
// concatenated tables.
template <class T>
std::vector<NewRank> numbered(std::vector<const T*> objects) {
  std::unordered_set<std::int64_t> seen;
  bool distinct = true;
  for (const T* each : objects) {
    if (!each->rank_id) return {};  // unknown
    distinct = distinct && seen.insert(*each->rank_id).second;
  }
  if (distinct) {
    std::stable_sort(objects.begin(), objects.end(),
                     [](const T* a, const T* b) { return *a->rank_id < *b->rank_id; });
  }
  std::vector<NewRank> out;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    out.emplace_back(objects[i]->source, static_cast<std::int64_t>(i));
  }
  return out;
}

std::vector<NewRank> new_ranks(const RankTable& table) {
  if (table.dialect == Dialect::hccl_2_0) {
    std::vector<const LayeredRank*> ranks;
    for (const LayeredRank& rank : table.ranks) ranks.push_back(&rank);
    return numbered(ranks);
  }
  std::vector<NewRank> out;
  std::vector<const Device*> devices;
  const auto flush = [&] {
    const std::vector<NewRank> more = numbered(std::exchange(devices, {}));
    out.insert(out.end(), more.begin(), more.end());
  };
  for (const Group& group : table.groups) {
    for (const Server& server : group.servers) {
      for (const Device& device : server.devices) devices.push_back(&device);
      if (table.dialect == Dialect::modelarts_global) flush();
    }
    flush();
  }
  return out;
}

// One round; empty when nothing is to be done.
std::vector<std::string> fix_once(const LintedText& linted, Edits& edits) {
  std::vector<std::string> out;
  const std::size_t types = fix_types(linted, edits);
  if (types > 0) return {counted(types, "value") + " of the wrong JSON type rewritten (RT004)"};
  const std::size_t counts = fix_counts(linted, edits);
  if (counts > 0) out.push_back(counted(counts, "count") + " corrected (RT011)");
  const bool renumber = has_code(linted, "RT020") && linted.dialect != Dialect::mindie_global &&
                        linted.dialect != Dialect::vllm_ascend;
  if (renumber) {
    const std::size_t ranks =
        set_ranks(*linted.tree, new_ranks(linted.table), linted.table.dialect, edits);
    if (ranks > 0) out.push_back(counted(ranks, "rank") + " renumbered from 0 (RT020)");
  }
  if (!out.empty()) return out;
  if (has_code(linted, "RT022")) {
    const std::size_t lists = sort_lists(*linted.tree, linted.table, edits);
    if (lists > 0) out.push_back(counted(lists, "list") + " sorted by rank_id (RT022)");
  }
  return out;
}

}  // namespace

Fixed fix(std::string text, const LintOptions& options) {
  constexpr int kRounds = 3;
  Fixed out{std::move(text), {}};
  for (int round = 0; round < kRounds; ++round) {
    const LintedText linted = lint_text(out.text, options);
    if (!linted.dialect || !linted.tree) return out;
    Edits edits;
    const std::vector<std::string> changes = fix_once(linted, edits);
    if (changes.empty()) return out;
    out.changes.insert(out.changes.end(), changes.begin(), changes.end());
    out.text = edits.apply(*linted.tree);
  }
  return out;
}

}  // namespace chipweave::codec::ranktable
