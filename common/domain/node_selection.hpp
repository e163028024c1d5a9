// Node selection — whether a pod may run on a node, as far as its nodeSelector, its required node
// affinity, and the node's taints say. As kube-scheduler 1.36 decides it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chipweave::domain {

using Labels = std::map<std::string, std::string, std::less<>>;

struct NodeTaint {
  std::string key;
  std::string value;
  std::string effect;
  friend bool operator==(const NodeTaint&, const NodeTaint&) = default;
};

// What a Node says about who may run on it.
struct NodeStanding {
  Labels labels;
  std::vector<NodeTaint> taints;
  bool unschedulable = false;
  friend bool operator==(const NodeStanding&, const NodeStanding&) = default;
};

// One requirement of a term: a label, or the name of the node.
struct NodeRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  friend bool operator==(const NodeRequirement&, const NodeRequirement&) = default;
};

// All requirements must hold; a term without any matches no node.
struct NodeTerm {
  std::vector<NodeRequirement> labels;
  std::vector<NodeRequirement> fields;  // of metadata.name
  friend bool operator==(const NodeTerm&, const NodeTerm&) = default;
};

struct Toleration {
  std::string key;  // empty with Exists: all
  std::string op;   // empty: Equal
  std::string value;
  std::string effect;  // empty: all
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct NodeWishes {
  Labels selector;
  bool has_required = false;  // required node affinity: one of the terms must match
  std::vector<NodeTerm> required;
  std::vector<Toleration> tolerations;
  friend bool operator==(const NodeWishes&, const NodeWishes&) = default;
};

// What why_not_on() compares for a node at most: requirements and tolerations / the values of
// requirements.
struct WishesSize {
  std::size_t parts = 0;
  std::size_t values = 0;
};
WishesSize size_of(const NodeWishes& pod);

// Why the pod may not run there: "does not match the pod's nodeSelector"; empty: it may.
std::string why_not_on(const NodeWishes& pod, const std::string& node, const NodeStanding& there);

// The nodes that its required node affinity names, as a pin does (matchFields): it may run on no
// other. nullopt: it names none.
std::optional<std::vector<std::string>> named_nodes(const NodeWishes& pod);

// The same wishes without what pins them to one node, a requirement for its name in each term.
NodeWishes without_pin(NodeWishes pod);

}  // namespace chipweave::domain
