// NodeLabels — the labels of all Nodes that may tell where these are in the network, and how many
// Nodes have each, so that the label family that most nodes have is known at any time.
//
// A change of a Node costs O(its labels). Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/domain/network/label_families.hpp"

namespace chipweave::sched {

class NodeLabels {
 public:
  static constexpr std::size_t kMaxNodes = 100'000;
  using Map = std::map<std::string, std::string, std::less<>>;

  NodeLabels();

  // Keeps all labels, not only those of the known families: for sources that name labels later.
  // Call it before the first set().
  void keep_all() { all_ = true; }
  // Keeps these as well; likewise.
  void keep(const std::vector<std::string>& labels);

  // Whether anything that is kept changed. annotations: of them, only those of the accelerators'
  // families count. A node above kMaxNodes is not kept.
  bool set(const std::string& node, const Map& labels, const Map& annotations);
  bool drop(const std::string& node);

  // Null: the node has no such label, or it is not kept.
  const std::string* find(const std::string& node, std::string_view label) const;
  Map all_of(const std::string& node) const;
  void each(const std::function<void(const std::string& node)>& visit) const;
  // How many nodes have it.
  std::size_t with(std::string_view label) const;
  std::size_t size() const { return nodes_.size(); }
  // Whether nodes were left out because there are too many.
  bool full() const { return full_; }
  // Rises with each change.
  std::uint64_t version() const { return version_; }

  // The levels of the family that most nodes have; none if no node has a known label.
  std::vector<domain::LabelLevel> network_levels() const;
  std::vector<domain::LabelLevel> accelerator_levels() const;

 private:
  static constexpr std::uint32_t kNoFamily = ~std::uint32_t{0};
  struct Label {
    std::string name;
    std::size_t nodes = 0;        // that have it; 0: the entry is unused
    std::size_t accelerated = 0;  // of these, with an accelerator's domain in it
    std::uint32_t family = kNoFamily;
    bool accelerators = false;  // it is of accelerator_label_families()
    std::optional<unsigned> tier{};
  };
  using Kept = std::vector<std::pair<std::uint32_t, std::string>>;  // by label, ascending

  struct Role {
    std::uint32_t family = kNoFamily;
    bool accelerators = false;
    std::optional<unsigned> tier{};
  };
  std::optional<Role> role_of(std::string_view label) const;
  std::uint32_t intern(std::string_view label, const Role& role);
  void add(Kept& kept, std::string_view label, const std::string& value);
  void count(const Kept& kept, bool enter);
  void free_unused(const Kept& kept);
  std::vector<domain::LabelLevel> in_use(const std::vector<std::string_view>& labels,
                                         bool accelerators) const;
  std::vector<domain::LabelLevel> tiers() const;
  const Label* label(std::string_view name) const;

  bool all_ = false;
  bool full_ = false;
  std::uint64_t version_ = 0;
  std::map<std::string, Role, std::less<>> roles_;  // of labels that are always kept
  std::unordered_map<std::string, Kept> nodes_;
  std::vector<Label> labels_;
  std::vector<std::uint32_t> unused_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  // Nodes with a label of each family: tiers, network_label_families(), zones.
  std::vector<std::size_t> network_nodes_;
  std::vector<std::size_t> accelerator_nodes_;
};

}  // namespace chipweave::sched
