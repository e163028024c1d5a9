// LabelledNode — a node with its labels, from the Node objects of a file, and the tables that
// labels make. Internal to common/codec/network.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/domain/network/label_families.hpp"
#include "common/domain/network_table.hpp"

namespace chipweave::codec {

using Labels = std::map<std::string, std::string, std::less<>>;

struct LabelledNode {
  std::string name;
  std::string where;
  Labels labels;
  Labels annotations;
};

// The texts and integers of an object; empty of anything else.
Labels read_labels(JsonValue map);

// Objects of kind Node; the nodes of kind's Cluster file, named as kind names them
// (kind-worker, kind-worker2); {"Nodes":[{"Name","Topology":{label: value}}]}, as AWS's plugin
// writes them. Errors: a Node without a name.
Result<std::vector<LabelledNode>> labelled_nodes(const NetworkObjects& objects);

using domain::LabelLevel;

// Levels coarsest first. A node without the label kubernetes.io/hostname has its name there. The
// accelerators' hierarchy comes from the known label families. Warns of nodes without any of the
// labels.
Result<domain::NetworkTable> table_by_labels(const std::vector<LabelledNode>& nodes,
                                             const std::vector<LabelLevel>& levels,
                                             Warnings& warnings);
// --levels: each label is a level of its name. Errors: a label that no node has.
Result<std::vector<LabelLevel>> chosen_levels(const std::vector<LabelledNode>& nodes,
                                              const std::vector<std::string>& labels);
// The levels of the label family that most nodes have; empty if no node has a known one. Warns of
// other families that nodes have.
std::vector<LabelLevel> detected_levels(const std::vector<LabelledNode>& nodes, Warnings& warnings);

}  // namespace chipweave::codec
