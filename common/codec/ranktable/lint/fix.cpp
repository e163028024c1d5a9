#include "common/codec/ranktable/lint/fix.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/edits.hpp"
#include "common/codec/ranktable/lint/renumber.hpp"
#include "common/codec/ranktable/schema/table_reader.hpp"
#include "common/codec/text/json_mend.hpp"

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

// A rank with the server that it is on, or in 2.0 tables its instance of layer 0.
struct Ranked {
  Source source;
  Number rank;
  std::string_view server_name;
  std::size_t server;
};

// Ranks that are numbered together, and how many servers the table states for them.
struct Scope {
  std::vector<Ranked> ranks;
  Number stated_servers;
};

bool are_distinct(const std::vector<Ranked>& ranks) {
  std::unordered_set<std::int64_t> seen;
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const Ranked& each) { return seen.insert(*each.rank).second; });
}

// In the order of their ranks; if ranks repeat, in the order of the text, as in concatenated
// tables.
std::vector<NewRank> numbered(std::vector<Ranked> ranks) {
  if (are_distinct(ranks)) {
    std::stable_sort(ranks.begin(), ranks.end(),
                     [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  }
  std::vector<NewRank> out;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    out.emplace_back(ranks[i].source, static_cast<std::int64_t>(i));
  }
  return out;
}

constexpr std::size_t kNamed = 5;  // missing ranks in a message

// The numbers that are missing from `from` to the largest, the first of them.
std::vector<std::int64_t> missing_from(std::int64_t from, std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::int64_t> out;
  for (const std::int64_t each : numbers) {
    for (; from < each && out.size() <= kNamed; ++from) out.push_back(from);
    if (each == from) ++from;
  }
  return out;
}

std::string missing_text(std::vector<std::int64_t> missing) {
  const bool more = missing.size() > kNamed;
  if (more) missing.pop_back();
  const bool one = missing.size() == 1;
  std::vector<std::string> names;
  names.reserve(missing.size());
  for (const std::int64_t each : missing) names.push_back(std::to_string(each));
  return concat(one ? "rank " : "ranks ", joined(names, ", "), more ? ", …" : "",
                one ? " is" : " are", " missing");
}

// Why the ranks must not be closed up: a rank is missing, and servers of different size or fewer of
// them than stated show that its device or server was lost. Empty: they may.
std::string lost_device(const Scope& scope) {
  struct OnServer {
    std::string_view name;
    std::vector<std::int64_t> ranks;
  };
  std::map<std::size_t, OnServer> servers;
  std::vector<std::int64_t> all;
  for (const Ranked& each : scope.ranks) {
    OnServer& server = servers[each.server];
    server.name = each.server_name;
    server.ranks.push_back(*each.rank);
    all.push_back(*each.rank);
  }
  std::vector<std::int64_t> missing;
  if (are_distinct(scope.ranks)) {
    missing = missing_from(0, std::move(all));
  } else {  // concatenated tables: each has its own ranks
    for (const auto& [number, server] : servers) {
      const std::int64_t least = *std::min_element(server.ranks.begin(), server.ranks.end());
      if (missing.empty()) missing = missing_from(least, server.ranks);
    }
  }
  if (missing.empty()) return "";
  const auto by_size = [](const auto& a, const auto& b) {
    return a.second.ranks.size() < b.second.ranks.size();
  };
  const auto least = std::min_element(servers.begin(), servers.end(), by_size);
  const auto most = std::max_element(servers.begin(), servers.end(), by_size);
  const std::string gap = missing_text(std::move(missing)) + ", and ";
  if (least->second.ranks.size() != most->second.ranks.size()) {
    return concat(gap, "server ", in_quotes(least->second.name), " has ",
                  counted(least->second.ranks.size(), "device"), ", ", in_quotes(most->second.name),
                  " has ", most->second.ranks.size());
  }
  const auto listed = static_cast<std::int64_t>(servers.size());
  if (scope.stated_servers <= listed) return "";
  return concat(gap, "the table states ", *scope.stated_servers, " servers and lists ", listed);
}

// Scopes whose ranks are all known.
std::vector<Scope> scopes_of(const RankTable& table) {
  std::vector<Scope> out(1);
  bool known = true;
  const auto add = [&](const auto& object, std::string_view name, std::size_t server) {
    known = known && object.rank_id.has_value();
    out.back().ranks.push_back({object.source, object.rank_id, name, server});
  };
  const auto flush = [&](const Number& stated) {
    out.back().stated_servers = stated;
    if (!known || out.back().ranks.empty()) out.pop_back();
    out.emplace_back();
    known = true;
  };
  std::size_t number = 0;
  if (table.dialect == Dialect::hccl_2_0) {
    std::map<std::string_view, std::size_t> instances;
    for (const LayeredRank& rank : table.ranks) {
      const bool named = !rank.layers.empty() && rank.layers.front().instance_id;
      const std::string_view name = named ? *rank.layers.front().instance_id : std::string_view();
      add(rank, name, instances.try_emplace(name, instances.size()).first->second);
    }
    flush({});
  }
  for (const Group& group : table.groups) {
    for (const Server& server : group.servers) {
      const std::string_view name = server.server_id ? *server.server_id : std::string_view();
      for (const Device& device : server.devices) add(device, name, number);
      ++number;
      if (table.dialect == Dialect::modelarts_global) flush({});
    }
    flush(group.count ? group.count : table.count);
  }
  out.pop_back();
  return out;
}

// One round; empty when nothing is to be done.
std::vector<std::string> fix_once(const LintedText& linted, Edits& edits, std::string& refused) {
  std::vector<std::string> out;
  const std::size_t types = fix_types(linted, edits);
  if (types > 0) return {counted(types, "value") + " of the wrong JSON type rewritten (RT004)"};
  const bool renumber = has_code(linted, "RT020") && linted.dialect != Dialect::mindie_global &&
                        linted.dialect != Dialect::vllm_ascend;
  std::vector<NewRank> ranks;
  for (Scope& scope : renumber ? scopes_of(linted.table) : std::vector<Scope>()) {
    refused = lost_device(scope);
    if (!refused.empty()) return {};  // a corrected count would hide the loss, too
    const std::vector<NewRank> more = numbered(std::move(scope.ranks));
    ranks.insert(ranks.end(), more.begin(), more.end());
  }
  const std::size_t counts = fix_counts(linted, edits);
  if (counts > 0) out.push_back(counted(counts, "count") + " corrected (RT011)");
  const std::size_t changed = set_ranks(*linted.tree, ranks, linted.table.dialect, edits);
  if (changed > 0) out.push_back(counted(changed, "rank") + " renumbered from 0 (RT020)");
  if (!out.empty()) return out;
  if (has_code(linted, "RT022")) {
    const std::size_t lists = sort_lists(*linted.tree, linted.table, edits);
    if (lists > 0) out.push_back(counted(lists, "list") + " sorted by rank_id (RT022)");
  }
  return out;
}

// RT001: what is mended without a guess, if JSON comes of it.
void mend_syntax(Fixed& fixed) {
  if (std::holds_alternative<JsonTree>(JsonTree::parse(fixed.text))) return;
  MendedJson mended = mend_json(fixed.text);
  if (mended.mended.empty()) return;
  if (!std::holds_alternative<JsonTree>(JsonTree::parse(mended.text))) return;
  struct Places {
    std::size_t count = 0;
    std::size_t first = 0;
  };
  std::map<JsonMend, Places> kinds;
  for (const MendedAt& each : mended.mended) {
    Places& kind = kinds[each.what];
    if (++kind.count == 1) kind.first = each.offset;
  }
  const LineIndex lines(fixed.text);
  for (const auto& [what, kind] : kinds) {
    fixed.changes.push_back(concat(to_string(what), kind.count == 1 ? " at " : ", the first of ",
                                   kind.count == 1 ? "" : concat(kind.count, " at "),
                                   lines.at(kind.first).text(), ": mended (RT001)"));
  }
  fixed.text = std::move(mended.text);
}

}  // namespace

Fixed fix(std::string text, const LintOptions& options) {
  constexpr int kRounds = 3;
  Fixed out{std::move(text), {}, {}};
  mend_syntax(out);
  for (int round = 0; round < kRounds; ++round) {
    const LintedText linted = lint_text(out.text, options);
    if (!linted.dialect || !linted.tree) return out;
    Edits edits;
    const std::vector<std::string> changes = fix_once(linted, edits, out.refused);
    if (changes.empty()) return out;
    out.changes.insert(out.changes.end(), changes.begin(), changes.end());
    out.text = edits.apply(*linted.tree);
  }
  return out;
}

}  // namespace chipweave::codec::ranktable
