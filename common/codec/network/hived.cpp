// HiveD: physicalCluster. Cells above the node are the levels, named by their distance from it.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/switch_tree.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kName = "hived";

struct CellType {
  std::string child;
  bool is_node = false;
};

using CellTypes = std::map<std::string, CellType, std::less<>>;

CellTypes read_types(const Json& cluster) {
  CellTypes out;
  const Json* types = json_at(cluster, {"cellTypes"});
  if (types == nullptr || !types->is_object()) return out;
  for (const auto& [name, value] : types->items()) {
    const Json* is_node = json_at(value, {"isNodeLevel"});
    out[name] = {json_word(json_at(value, {"childCellType"})).value_or(""),
                 is_node != nullptr && is_node->is_boolean() && is_node->get<bool>()};
  }
  return out;
}

// Walks down to the cells of the node level; the cells above become switches of the tree.
class Cells {
 public:
  explicit Cells(const CellTypes& types) : types_(types) {}

  // `parent` is "" for a cell of the top.
  Result<void> add(const Json& cell, const std::string& type, const std::string& parent,
                   const std::string& where, std::size_t depth) {
    const auto found = types_.find(type);
    if (found == types_.end()) {
      return network_error("the cell type " + quoted_excerpt(type) + " is not in cellTypes, or " +
                           "no cell on the way down is of the node level")
          .in(where);
    }
    if (depth > limits::kMaxNetworkLevels) {
      return make_error(Errc::limit_exceeded, "the cell types are nested too deep").in(where);
    }
    const std::string address = json_word(json_at(cell, {"cellAddress"})).value_or("");
    if (found->second.is_node) {
      if (address.empty()) return network_error("a node has no cellAddress").in(where);
      return attach({address, {}, {}, {}}, parent, where);
    }
    // Addresses above the node may be left out: numbers by type then.
    const std::string name =
        type + "/" + (address.empty() ? std::to_string(counts_[type]++) : address);
    if (auto done = tree_.declare(name, where); !done) return done;
    if (!parent.empty()) {
      if (auto done = tree_.connect(parent, name, where); !done) return done;
    }
    const Json* children = json_at(cell, {"cellChildren"});
    if (children == nullptr || !children->is_array()) {
      return network_error("a cell above the nodes has no cellChildren with their addresses")
          .in(where);
    }
    for (std::size_t i = 0; i < children->size(); ++i) {
      const std::string at = where + ".cellChildren[" + std::to_string(i) + "]";
      if (auto done = add((*children)[i], found->second.child, name, at, depth + 1); !done) {
        return done;
      }
    }
    return {};
  }

  // After the last cell: nodes that are cells of the top become domains of their own. One that is
  // in a larger cell too has several kinds of chips, and is where that cell is.
  Result<std::size_t> attach_alone() {
    std::size_t count = 0;
    for (const auto& [name, where] : alone_) {
      if (in_cell_.count(name) > 0) continue;
      ++count;
      if (auto done = tree_.attach(name, {name, {}, {}, {}}, where); !done) {
        return std::move(done).error();
      }
    }
    return count;
  }

  SwitchTree& tree() { return tree_; }

 private:
  Result<void> attach(domain::NetworkNode node, const std::string& parent,
                      const std::string& where) {
    if (parent.empty()) {
      alone_.emplace(node.name, where);
      return {};
    }
    in_cell_.insert(node.name);
    return tree_.attach(parent, std::move(node), where);
  }

  const CellTypes& types_;
  SwitchTree tree_;
  std::map<std::string, int> counts_;
  std::set<std::string> in_cell_;
  std::map<std::string, std::string> alone_;  // cells of the top that are nodes → where
};

const Json* cluster_of(const NetworkObjects& objects) {
  const Json* value = only_object(objects);
  return value == nullptr ? nullptr : json_at(*value, {"physicalCluster"});
}

}  // namespace

bool looks_like_hived(const NetworkObjects& objects) { return cluster_of(objects) != nullptr; }

Result<ImportedNetwork> import_hived(const NetworkObjects& objects,
                                     const NetworkImportOptions& /*options*/) {
  const Json* cluster = cluster_of(objects);
  if (cluster == nullptr) return not_this_format(kName, "physicalCluster");
  const Json* cells = json_at(*cluster, {"physicalCells"});
  if (cells == nullptr || !cells->is_array()) {
    return network_error("physicalCluster has no list physicalCells");
  }
  const CellTypes types = read_types(*cluster);
  Cells all(types);
  for (std::size_t i = 0; i < cells->size(); ++i) {
    const Json& cell = (*cells)[i];
    const std::string type = json_word(json_at(cell, {"cellType"})).value_or("");
    const std::string where = "physicalCells[" + std::to_string(i) + "]";
    if (auto done = all.add(cell, type, "", where, 0); !done) return std::move(done).error();
  }
  const Result<std::size_t> alone = all.attach_alone();
  if (!alone) return alone.error();
  Warnings warnings;
  Result<domain::NetworkTable> table = all.tree().table({}, warnings);
  if (!table) return std::move(table).error();
  if (*alone > 0) {
    warnings.add(std::to_string(*alone) + " nodes are in no larger cell: each is alone");
  }
  return ImportedNetwork{*std::move(table), kName, std::move(warnings).list()};
}

}  // namespace chipweave::codec
