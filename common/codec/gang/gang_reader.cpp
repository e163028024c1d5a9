#include "common/codec/gang/gang_reader.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/batch/objective.hpp"
#include "common/codec/gang/communicators_codec.hpp"
#include "common/codec/gang/vendor_keys.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::kNoSet;
using domain::PodSet;
using domain::Slice;

constexpr int kMaxMembers = 2 * limits::kMaxGangPods;  // running and new ones

class GangReader {
 public:
  GangReader(JsonValue value, PlanRequest& request, JsonProblems& problems)
      : object_(
            value,
            {"pods", "chips_per_pod", "pod_chips", "min_member", "required_level",
             "preferred_level", "slices", "policy", "subgroups", "min_sets", "roles", "existing",
             "failed_nodes", "allowed_nodes", "keep_spare", "vendor", "objective", "communicators"},
            problems),
        request_(request),
        gang_(request.gang),
        problems_(problems) {
    for (std::size_t i = 0; i < request.nodes.size(); ++i)
      add_path(joined_path(request.nodes[i].path), static_cast<domain::GangNodeId>(i));
  }

  void read() {
    gang_.required_level = level(object_, "required_level");
    gang_.preferred_level = level(object_, "preferred_level");
    gang_.slices = slices(object_, gang_.required_level);
    if (const auto policy = object_.text("policy")) {
      if (*policy == "even")
        gang_.policy = domain::GangPolicy::even;
      else if (*policy != "compact")
        object_.problem("policy", "must be compact or even");
    }
    gang_.objective = read_objective(object_);
    read_failed();
    read_pods();
    limit_sets();
    Named named;
    gang_.existing = existing(object_, named);
    add_existing_of_sets();
    read_chips();
    read_allowed();
    read_spare();
    read_min_sets();
    read_vendor();
    read_ranks();
    const int running = gang_.running_pods();
    // A repair restores the pods that ran; otherwise running and new pods count.
    const int all = gang_.failed ? running : gang_.pods + running;
    gang_.min_member = object_.integer("min_member", 0, kMaxMembers).value_or(all);
  }

 private:
  // kNoLevel if it is absent or wrong.
  int level(const JsonObject& object, std::string_view key) {
    return read_level(object, key, request_.levels).value_or(kNoLevel);
  }

  std::vector<Slice> slices(const JsonObject& object, int required) {
    std::vector<Slice> out;
    for (const JsonValue item : object.array("slices", limits::kMaxNetworkLevels)) {
      const JsonObject one(item, {"level", "size"}, problems_);
      if (!one) continue;
      one.require("level");
      const int at = level(one, "level");
      const auto size = one.require_integer("size", 1, limits::kMaxGangPods);
      if (at == kNoLevel || !size) continue;
      if (at < required)
        one.problem("level", "is above required_level: such a domain holds all pods");
      if (std::any_of(out.begin(), out.end(), [&](const auto& s) { return s.level == at; }))
        one.problem("level", "names a level for the second time");
      out.push_back({at, *size});
    }
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.level < b.level; });
    for (std::size_t i = 1; i < out.size(); ++i) {
      if (out[i - 1].size % out[i].size != 0)
        object.problem("slices", "size must divide " + std::to_string(out[i - 1].size) +
                                     ", that of a level above it, got " +
                                     std::to_string(out[i].size));
    }
    return out;
  }

  void add_path(std::string path, domain::GangNodeId node) {
    constexpr std::size_t kShown = 6;  // quoted_list() shows five
    const auto [at, is_new] = by_path_.try_emplace(path);
    if (is_new && first_paths_.size() < kShown) first_paths_.push_back(std::move(path));
    at->second.push_back(node);
  }

  // What the paths of `existing` have listed so far.
  struct Named {
    std::set<int> ranks;
    std::set<int> numbers;
  };
  // Path to the number of pods there, the list of their ranks, or an object with both and more.
  std::map<domain::GangNodeId, domain::Running> existing(const JsonObject& object, Named& named) {
    std::map<domain::GangNodeId, domain::Running> out;
    for (const JsonValue value : object.map("existing", limits::kMaxPlanNodes)) {
      const auto at = by_path_.find(std::string(value.name()));
      if (at == by_path_.end()) {
        problems_.add(value, "unknown node path; known: " + quoted_list(first_paths_));
        continue;
      }
      domain::Running here;
      if (value.is_object()) {
        here =
            running_at(JsonObject(value, {"pods", "ranks", "numbers", "chips"}, problems_), named);
      } else if (value.is_array()) {
        here.ranks = ranks_at(value, named.ranks, "rank");
        here.pods = static_cast<int>(here.ranks.size());
        add_numbers(value, here, named);
      } else {
        here.pods = as_integer(value, 0, limits::kMaxGangPods, problems_).value_or(0);
      }
      // The first node of a path represents all nodes there.
      if (here.pods > 0) out[at->second.front()] = std::move(here);
    }
    return out;
  }
  domain::Running running_at(const JsonObject& object, Named& named) {
    domain::Running out;
    const JsonValue ranks = object.array("ranks", limits::kMaxGangPods);
    const JsonValue numbers = object.array("numbers", limits::kMaxGangPods);
    if (ranks) out.ranks = ranks_at(ranks, named.ranks, "rank");
    const auto listed = static_cast<int>(out.ranks.size());
    out.pods = object.integer("pods", 0, limits::kMaxGangPods).value_or(listed);
    if (!ranks)
      object.require("pods");
    else if (out.pods != listed)
      object.problem("pods", "is " + std::to_string(out.pods) + ", there are " +
                                 std::to_string(listed) + " ranks");
    if (numbers) {
      out.numbers = ranks_at(numbers, named.numbers, "pod");
      if (out.numbers.size() != out.ranks.size())
        object.problem("numbers", "must list one pod for each of `ranks`");
      out.numbers.resize(out.ranks.size(), 0);
    } else {
      add_numbers(object.value(), out, named);
    }
    std::set<int> chips;
    if (const JsonValue list = object.array("chips", limits::kMaxChips))
      out.chips = numbers_in(list, limits::kMaxChipIndex, chips, "chip");
    return out;
  }
  // Where pods are not numbered, their ranks are their numbers.
  void add_numbers(JsonValue at, const domain::Running& here, Named& named) {
    for (const int rank : here.ranks)
      if (!named.numbers.insert(rank).second)
        problems_.add(at, "has pod " + std::to_string(rank) + ", which another path has as well");
  }
  // `named`: those listed before.
  std::vector<int> ranks_at(JsonValue list, std::set<int>& named, const char* what) {
    return numbers_in(list, limits::kMaxGangPods - 1, named, what);
  }
  std::vector<int> numbers_in(JsonValue list, int most, std::set<int>& named, const char* what) {
    std::vector<int> out;
    for (const JsonValue item : list) {
      const auto number = as_integer(item, 0, most, problems_);
      if (!number || out.size() == std::size_t{limits::kMaxGangPods}) break;
      if (!named.insert(*number).second)
        problems_.add(item, std::string("names a ") + what + " for the second time");
      out.push_back(*number);
    }
    return out;
  }

  static void add_of_set(const domain::Running& here, domain::Running& sum) {
    const auto append = [](const std::vector<int>& from, std::vector<int>& to) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(here.numbers.empty() ? here.ranks : here.numbers, sum.numbers);
    append(here.ranks, sum.ranks);
    append(here.chips, sum.chips);
    sum.pods += here.pods;
  }
  // The gang's own list may name the subgroups' pods again, or leave them out.
  void add_existing_of_sets() {
    for (auto& [node, of_sets] : of_sets_) {
      domain::Running& here = gang_.existing[node];
      if (here.ranks.empty()) here.pods = std::max(here.pods, of_sets.pods);
      if (here.pods < of_sets.pods)
        object_.problem("existing", "has fewer pods of " + joined_path(request_.nodes[node].path) +
                                        " than the subgroups name there");
      if (here.chips.empty()) here.chips = std::move(of_sets.chips);
      if (!here.ranks.empty() || of_sets.ranks.size() != static_cast<std::size_t>(here.pods))
        continue;
      here.ranks = std::move(of_sets.ranks);
      here.numbers = std::move(of_sets.numbers);
    }
  }

  void read_failed() {
    if (!object_.has("failed_nodes")) return;
    gang_.failed.emplace();
    for (const JsonValue item : object_.array("failed_nodes", limits::kMaxPlanNodes)) {
      if (!item.is_string()) {
        problems_.add(item, "must be the path of a node");
        continue;
      }
      auto at = by_path_.find(std::string(item.text()));
      if (at == by_path_.end()) at = add_gone(item);
      if (at == by_path_.end()) continue;
      for (const domain::GangNodeId node : at->second) gang_.failed->push_back(node);
    }
  }
  // A node that left the network: it takes no pods, but its domains are known.
  std::unordered_map<std::string, std::vector<domain::GangNodeId>>::iterator add_gone(
      JsonValue item) {
    const std::string path(item.text());
    PlanNode gone;
    for (const std::string_view step : split(path, '/')) gone.path.emplace_back(step);
    if (gone.path.size() > request_.switch_levels) {
      problems_.add(item, "unknown node path, and deeper than the network");
      return by_path_.end();
    }
    gone.name = "\x01" + path;  // never a node's name: it contains a control character
    gone.place = gone.path;
    gone.healthy = false;
    const auto id = static_cast<domain::GangNodeId>(request_.nodes.size());
    request_.nodes.push_back(std::move(gone));
    return by_path_.emplace(path, std::vector<domain::GangNodeId>{id}).first;
  }

  void read_pods() {
    const auto most = std::int64_t{limits::kMaxGangPods};
    if (object_.has("roles") && object_.has("subgroups"))
      object_.problem("roles", "cannot be combined with subgroups");
    read_roles();
    read_subgroups();
    if (!object_.has("roles") && !object_.has("subgroups")) {
      gang_.pods = object_.require_integer("pods", 0, limits::kMaxGangPods).value_or(0);
      return;
    }
    std::int64_t sum = 0;
    for (const PodSet& set : gang_.sets) sum += set.pods;
    if (sum > most)
      problems_.add(object_.value(), "has more than " + std::to_string(most) + " pods");
    gang_.pods = static_cast<int>(std::min(sum, most));
    const auto stated = object_.integer("pods", 0, most);
    if (stated && *stated != sum)
      object_.problem(
          "pods", "is " + std::to_string(*stated) + ", its parts sum up to " + std::to_string(sum));
  }

  void read_common(const JsonObject& one, PodSet& set) {
    set.name = one.require_text("name").value_or("");
    if (!names_.insert(set.name).second) one.problem("name", "is a name that was used before");
    set.pods = one.require_integer("pods", 0, limits::kMaxGangPods).value_or(0);
    set.required_level = level(one, "required_level");
    set.preferred_level = level(one, "preferred_level");
  }

  void limit_sets() {
    const std::size_t sets = gang_.sets.size();
    if (sets == 0 || request_.nodes.size() <= limits::kMaxSetsTimesNodes / sets) return;
    object_.problem(gang_.roles ? "roles" : "subgroups",
                    "has " + std::to_string(sets) + " on " + std::to_string(request_.nodes.size()) +
                        " nodes, at most " + std::to_string(limits::kMaxSetsTimesNodes) + " pairs");
  }

  void read_roles() {
    if (!object_.has("roles")) return;
    gang_.roles = true;
    for (const JsonValue item : object_.array("roles", limits::kMaxGangSets)) {
      const JsonObject one(item,
                           {"name", "pods", "chips_per_pod", "required_level", "preferred_level",
                            "slices", "together"},
                           problems_);
      if (!one) continue;
      PodSet set;
      read_common(one, set);
      const auto chips = one.integer("chips_per_pod", 0, kMaxPodChips);
      if (!chips && !one.has("chips_per_pod") && !object_.has("chips_per_pod") &&
          !object_.has("pod_chips"))
        one.problem("chips_per_pod", "is missing");
      set.chips_per_pod =
          chips.value_or(object_.integer("chips_per_pod", 0, kMaxPodChips).value_or(0));
      set.slices = slices(one, std::max(set.required_level, gang_.required_level));
      set.together = one.text_or_empty("together");
      gang_.sets.push_back(std::move(set));
    }
  }

  void read_subgroups() {
    if (!object_.has("subgroups") || gang_.roles) return;
    std::unordered_map<std::string, int> by_name;
    std::vector<std::optional<int>> least;
    std::vector<JsonValue> parents;
    Named named;
    for (const JsonValue item : object_.array("subgroups", limits::kMaxGangSets)) {
      const JsonObject one(item,
                           {"name", "parent", "pods", "required_level", "preferred_level",
                            "min_member", "set", "existing"},
                           problems_);
      if (!one) continue;
      PodSet set;
      read_common(one, set);
      parents.push_back(one.text("parent") ? one.find("parent") : JsonValue());
      least.push_back(one.integer("min_member", 0, kMaxMembers));
      set.kind = one.text_or_empty("set");
      for (const auto& [node, here] : existing(one, named)) {
        set.existing[node] = here.pods;
        add_of_set(here, of_sets_[node]);
      }
      by_name.emplace(set.name, static_cast<int>(gang_.sets.size()));
      gang_.sets.push_back(std::move(set));
    }
    std::vector<bool> has_children(gang_.sets.size(), false);
    for (std::size_t i = 0; i < gang_.sets.size(); ++i) {
      if (parents[i].text().empty()) continue;
      const auto at = by_name.find(std::string(parents[i].text()));
      if (at == by_name.end()) {
        problems_.add(parents[i], "unknown subgroup");
        continue;
      }
      gang_.sets[i].parent = at->second;
      has_children[static_cast<std::size_t>(at->second)] = true;
    }
    refuse_cycles(parents);
    for (std::size_t i = 0; i < gang_.sets.size(); ++i) {
      PodSet& set = gang_.sets[i];
      int running = 0;
      for (const auto& [node, pods] : set.existing) running += pods;
      // The pods of a repair are those that ran.
      const int own = gang_.failed ? std::max(set.pods, running) : set.pods + running;
      // Defaults to all of its own pods; a given number includes those of nested subgroups.
      set.own_min = least[i] && has_children[i] ? 0 : least[i].value_or(own);
      set.min_member = least[i] && has_children[i] ? *least[i] : 0;
    }
  }
  void refuse_cycles(const std::vector<JsonValue>& parents) {
    for (std::size_t i = 0; i < gang_.sets.size(); ++i) {
      int at = gang_.sets[i].parent;
      for (std::size_t steps = 0; at != kNoSet; ++steps) {
        if (steps > gang_.sets.size() || at == static_cast<int>(i)) {
          problems_.add(parents[i], "makes the subgroup a part of itself");
          for (PodSet& set : gang_.sets) set.parent = kNoSet;
          return;
        }
        at = gang_.sets[static_cast<std::size_t>(at)].parent;
      }
    }
  }

  void read_chips() {
    const JsonValue list = object_.array("pod_chips", limits::kMaxGangPods);
    const auto chips = object_.integer("chips_per_pod", 0, kMaxPodChips);
    gang_.chips_per_pod = chips.value_or(0);
    if (!gang_.roles) {
      for (PodSet& set : gang_.sets) set.chips_per_pod = gang_.chips_per_pod;
    }
    if (!list) {
      if (!object_.has("chips_per_pod") && !object_.has("pod_chips") && !gang_.roles)
        object_.problem("chips_per_pod", "is missing");
      return;
    }
    for (const JsonValue item : list) {
      gang_.pod_chips.push_back(as_integer(item, 0, kMaxPodChips, problems_).value_or(0));
    }
    if (gang_.pod_chips.size() != static_cast<std::size_t>(gang_.pods))
      object_.problem("pod_chips", "has " + std::to_string(gang_.pod_chips.size()) +
                                       " numbers, there are " + std::to_string(gang_.pods) +
                                       " pods");
  }

  void read_allowed() {
    if (!object_.has("allowed_nodes")) return;
    std::unordered_map<std::string_view, domain::GangNodeId> by_name;
    for (std::size_t i = 0; i < request_.nodes.size(); ++i)
      by_name.emplace(request_.nodes[i].name, static_cast<domain::GangNodeId>(i));
    for (const JsonValue value : object_.map("allowed_nodes", limits::kMaxGangPods)) {
      const auto pod = whole_number<int>(value.name(), gang_.pods - 1);
      if (!pod) {
        problems_.add(value, "unknown pod; known: 0 to " + std::to_string(gang_.pods - 1));
        continue;
      }
      if (!value.is_array()) {
        problems_.add(value, "must be a list of node names");
        continue;
      }
      std::vector<domain::GangNodeId> nodes;
      for (const JsonValue item : value) {
        const auto at = item.is_string() ? by_name.find(item.text()) : by_name.end();
        if (at != by_name.end())
          nodes.push_back(at->second);
        else if (!item.is_string() || !gang_.failed)  // a failed node may have left the network
          problems_.add(item, "unknown node");
      }
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
      gang_.allowed[*pod] = std::move(nodes);
    }
  }

  void read_spare() {
    const JsonValue value = object_.find("keep_spare");
    if (!value) return;
    const JsonObject one(value, {"level", "nodes"}, problems_);
    one.require("level");
    const int at = level(one, "level");
    const auto nodes = one.require_integer("nodes", 0, limits::kMaxPlanNodes);
    if (at != kNoLevel && nodes) gang_.spare = domain::Spare{at, static_cast<int>(*nodes)};
  }

  void read_min_sets() {
    for (const JsonValue value : object_.map("min_sets", limits::kMaxGangSets)) {
      const std::string name(value.name());
      const bool known = std::any_of(gang_.sets.begin(), gang_.sets.end(),
                                     [&](const PodSet& set) { return set.kind == name; });
      if (!known || name.empty()) problems_.add(value, "no subgroup has this set");
      const auto count = as_integer(value, 0, limits::kMaxGangPods, problems_);
      if (count) gang_.min_sets[name] = *count;
    }
  }

  void read_vendor() {
    const JsonValue value = object_.find("vendor");
    if (!value) return;
    if (!gang_.sets.empty() || !gang_.pod_chips.empty())
      problems_.add(value, "cannot be combined with roles, subgroups or pod_chips");
    request_.vendor = read_vendor_keys(value, request_.levels, problems_);
  }

  // One rank a chip unless the request says otherwise.
  void read_ranks() {
    const JsonValue value = object_.find("communicators");
    if (!value) return;
    gang_.communicators = read_communicators(value, problems_);
    if (object_.has("vendor"))
      problems_.add(value, "cannot be combined with vendor, whose scheduler numbers the ranks");
    std::int64_t& ranks = gang_.communicators->ranks_per_pod;
    if (ranks > 0) return;
    std::set<int> sizes;
    if (!gang_.pod_chips.empty())
      sizes.insert(gang_.pod_chips.begin(), gang_.pod_chips.end());
    else if (gang_.sets.empty())
      sizes.insert(gang_.chips_per_pod);
    for (const PodSet& set : gang_.sets)
      if (gang_.pod_chips.empty()) sizes.insert(set.chips_per_pod);
    if (sizes.size() == 1) ranks = std::max(*sizes.begin(), 1);
    if (sizes.size() > 1)
      problems_.add(value, "needs ranks_per_pod: the pods have different numbers of chips");
  }

  JsonObject object_;
  PlanRequest& request_;
  Gang& gang_;
  JsonProblems& problems_;
  std::unordered_map<std::string, std::vector<domain::GangNodeId>> by_path_;
  std::vector<std::string> first_paths_;  // for messages
  std::unordered_set<std::string> names_;
  std::map<domain::GangNodeId, domain::Running> of_sets_;  // pods of subgroups that run
};

}  // namespace

void read_gang(JsonValue value, PlanRequest& request, JsonProblems& problems) {
  GangReader reader(value, request, problems);
  if (value.is_object()) reader.read();
}

}  // namespace chipweave::codec
