// Node selection — whether a pod may run on a node, as far as its nodeSelector, its required node
// affinity, and the node's taints say. As kube-scheduler 1.36 decides it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace chipweave::domain {

using Labels = std::map<std::string, std::string, std::less<>>;

struct NodeTaint {
  std::string key;
  std::string value;
  std::string effect;
};

// What a Node says about who may run on it.
struct NodeStanding {
  Labels labels;
  std::vector<NodeTaint> taints;
  bool unschedulable = false;
};

// One requirement of a term: a label, or the name of the node.
struct NodeRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
};

// All requirements must hold; a term without any matches no node.
struct NodeTerm {
  std::vector<NodeRequirement> labels;
  std::vector<NodeRequirement> fields;  // of metadata.name
};

struct Toleration {
  std::string key;  // empty with Exists: all
  std::string op;   // empty: Equal
  std::string value;
  std::string effect;  // empty: all
};

struct NodeWishes {
  Labels selector;
  bool has_required = false;       // required node affinity: one of the terms must match
  std::vector<NodeTerm> required;  //
  std::vector<Toleration> tolerations;
};

// Why the pod may not run there: "does not match the pod's nodeSelector"; empty: it may.
std::string why_not_on(const NodeWishes& pod, const std::string& node, const NodeStanding& there);

}  // namespace chipweave::domain
