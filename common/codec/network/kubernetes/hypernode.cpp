// Volcano's HyperNode objects: tiers become levels, the highest tier first. Members are named
// exactly, by a pattern or by labels; the latter two need the Node objects in the same file.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/kubernetes/hypernode_members.hpp"
#include "common/codec/network/kubernetes/labelled_nodes.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::int64_t kMaxTier = 1'000'000;

struct HyperNode {
  std::string name;
  std::string label;  // for messages
  std::int64_t tier = 0;
  std::string tier_name;
  JsonValue members;
  const HyperNode* parent = nullptr;
};

using ByName = std::map<std::string, HyperNode, std::less<>>;

Result<HyperNode> read_hypernode(const NetworkObject& object) {
  HyperNode out;
  out.name = object_name(object);
  out.label = object_label(object);
  if (auto good = check_network_name("HyperNode", out.name); !good) {
    return std::move(good).error().in(out.label);
  }
  const JsonValue spec = object.value["spec"];
  const std::optional<std::int64_t> tier = spec["tier"].integer();
  if (!tier) return network_error(out.label + ": spec.tier must be a whole number");
  out.tier = *tier;
  if (out.tier < 0 || out.tier > kMaxTier) {
    return network_error(out.label + ": spec.tier must be from 0 to " + std::to_string(kMaxTier) +
                         ", got " + std::to_string(out.tier));
  }
  out.tier_name = text_or_empty(spec["tierName"]);
  out.members = list_at(spec, "members");
  if (!out.members) return network_error(out.label + ": spec.members must be a list");
  return out;
}

// v1alpha1 is the only version; a later one may give the same keys another meaning.
Result<ByName> read_hypernodes(const NetworkObjects& objects, Warnings& warnings) {
  ByName out;
  for (const NetworkObject& object : objects) {
    if (object.kind != "HyperNode") continue;
    const std::string version = text_or_empty(object.value["apiVersion"]);
    if (!version.empty() && version != "topology.volcano.sh/v1alpha1") {
      warnings.add(object_label(object) + " is of " + quoted_excerpt(version) +
                   ", read as topology.volcano.sh/v1alpha1");
    }
    Result<HyperNode> one = read_hypernode(object);
    if (!one) return std::move(one).error();
    if (out.size() >= limits::kMaxNetworkDomains) {
      return too_many(limits::kMaxNetworkDomains, "HyperNodes; split the file");
    }
    const std::string label = one->label;
    std::string name = one->name;
    if (!out.emplace(std::move(name), *std::move(one)).second) {
      return network_error("duplicate " + label);
    }
  }
  return out;
}

Result<void> connect(HyperNode& parent, ByName& all, const std::string& child_name,
                     Warnings& warnings) {
  const auto child = all.find(child_name);
  if (child == all.end()) {
    warnings.add(parent.label + " has the member " + quoted_excerpt(child_name) +
                 ", which is not in the file");
    return {};
  }
  HyperNode& below = child->second;
  if (below.tier >= parent.tier) {
    return network_error(parent.label + " of tier " + std::to_string(parent.tier) +
                         " has the member " + below.label + " of tier " +
                         std::to_string(below.tier) + "; members must be of a lower tier");
  }
  if (below.parent != nullptr && below.parent != &parent) {
    return network_error(below.label + " is a member of " + below.parent->label + " and of " +
                         parent.label + "; keep one");
  }
  below.parent = &parent;
  return {};
}

std::vector<LabelLevel> tier_levels(const ByName& all) {
  std::map<std::int64_t, std::set<std::string>, std::greater<>> names;
  for (const auto& [unused, one] : all) names[one.tier].insert(one.tier_name);
  std::map<std::string, int> uses;
  for (const auto& [unused, of_tier] : names) ++uses[*of_tier.begin()];
  std::vector<LabelLevel> out;
  for (const auto& [tier, of_tier] : names) {
    const std::string& name = *of_tier.begin();
    const bool good = of_tier.size() == 1 && !name.empty() && uses[name] == 1;
    out.push_back({good ? name : "tier-" + std::to_string(tier), {std::to_string(tier)}});
  }
  return out;
}

// A tier without a HyperNode in this branch gets the name of the one above; the first tiers get
// that of the one below.
std::vector<std::string> path_of(const HyperNode* lowest,
                                 const std::map<std::int64_t, std::size_t>& index) {
  std::vector<std::string> path(index.size());
  for (const HyperNode* one = lowest; one != nullptr; one = one->parent) {
    path[index.at(one->tier)] = one->name;
  }
  const auto first = std::find_if(path.begin(), path.end(),
                                  [](const std::string& element) { return !element.empty(); });
  if (first == path.end()) return path;
  std::string last = *first;
  for (std::string& element : path) {
    if (element.empty()) element = last;
    last = element;
  }
  return path;
}

bool is_above(const HyperNode* upper, const HyperNode* lower) {
  for (; lower != nullptr; lower = lower->parent) {
    if (lower == upper) return true;
  }
  return false;
}

// The place of each node: the lowest HyperNode that contains it. All others that contain it must be
// above that one.
class Homes {
 public:
  Result<void> put(const std::string& node, const HyperNode& in) {
    const HyperNode*& home = homes_[node];
    if (home == nullptr || is_above(home, &in)) {
      home = &in;
      return {};
    }
    if (is_above(&in, home)) return {};
    return network_error("node " + quoted_excerpt(node) + " is in " + home->label + " and in " +
                         in.label + ", neither of which is above the other; keep one");
  }
  const HyperNode* of(const std::string& node) const {
    const auto found = homes_.find(node);
    return found == homes_.end() ? nullptr : found->second;
  }
  const std::map<std::string, const HyperNode*>& all() const { return homes_; }

 private:
  std::map<std::string, const HyperNode*> homes_;
};

Result<void> read_members(HyperNode& one, ByName& all, HyperNodeMembers& members,
                          Warnings& warnings,
                          std::vector<std::pair<std::string, const HyperNode*>>& nodes) {
  std::size_t i = 0;
  for (const JsonValue member : one.members) {
    const std::string where = one.label + ", " + list_item("members", i++);
    const std::string type = text_or_empty(member["type"]);
    if (type != "Node" && type != "HyperNode") {
      return network_error("type must be Node or HyperNode, got " + quoted_excerpt(type)).in(where);
    }
    Result<std::vector<std::string>> names = members.select(member, type == "Node");
    if (!names) return std::move(names).error().in(where);
    for (std::string& name : *names) {
      if (type == "HyperNode") {
        if (auto done = connect(one, all, name, warnings); !done) return done;
      } else {
        nodes.emplace_back(std::move(name), &one);
      }
    }
  }
  return {};
}

Result<domain::NetworkTable> make_table(const ByName& all, const Homes& homes,
                                        const std::vector<LabelledNode>& nodes,
                                        Warnings& warnings) {
  std::vector<std::string> names;
  std::map<std::int64_t, std::size_t> index;
  for (const LabelLevel& level : tier_levels(all)) {
    index[std::stoll(level.labels.front())] = names.size();
    names.push_back(level.name);
  }
  // The nodes of the file's Node objects, in their order and with the accelerator levels of their
  // labels; without such objects the members, by name.
  Result<domain::NetworkTable> labels = table_by_labels(nodes, {}, warnings);
  if (!labels) return labels;
  if (nodes.empty()) {
    for (const auto& [name, unused] : homes.all()) labels->nodes.push_back({name, {}, {}, {}});
  }
  NetworkTableBuilder builder(std::move(names), labels->accelerator_levels);
  std::size_t outside = 0;
  for (domain::NetworkNode& node : labels->nodes) {
    const HyperNode* home = homes.of(node.name);
    node.path = path_of(home, index);
    if (home == nullptr) ++outside;
    builder.add(std::move(node), "");
  }
  if (outside > 0) warnings.add(std::to_string(outside) + " nodes are in no HyperNode");
  return std::move(builder).take();
}

bool looks_like_hypernodes(const NetworkObjects& objects) { return has_kind(objects, "HyperNode"); }

Result<domain::NetworkTable> import_hypernodes(const NetworkObjects& objects,
                                               const std::vector<std::string>& /*levels*/,
                                               Warnings& warnings) {
  if (!looks_like_hypernodes(objects))
    return not_this_format(kHypernodeFormat.name, "object of kind HyperNode");
  Result<ByName> all = read_hypernodes(objects, warnings);
  if (!all) return std::move(all).error();
  const Result<std::vector<LabelledNode>> nodes = labelled_nodes(objects);
  if (!nodes) return nodes.error();
  if (tier_levels(*all).size() > limits::kMaxNetworkLevels) {
    return make_error(
        Errc::limit_exceeded,
        "the HyperNodes must have at most " + std::to_string(limits::kMaxNetworkLevels) + " tiers");
  }
  std::vector<std::string> names;
  for (const auto& [name, unused] : *all) names.push_back(name);
  HyperNodeMembers members(*nodes, std::move(names), warnings);
  std::vector<std::pair<std::string, const HyperNode*>> found;
  for (auto& [unused, one] : *all) {
    if (auto done = read_members(one, *all, members, warnings, found); !done) {
      return std::move(done).error();
    }
  }
  Homes homes;  // needs all parents
  for (const auto& [node, home] : found) {
    if (auto done = homes.put(node, *home); !done) return std::move(done).error();
  }
  return make_table(*all, homes, *nodes, warnings);
}

}  // namespace

const ObjectFormat kHypernodeFormat{"hypernode", looks_like_hypernodes, import_hypernodes};

}  // namespace chipweave::codec
