// Homes — where the rules let the lost pods of a gang go: for each of them the smallest domain that
// it must not leave, and the groups of pods whose domain may change.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"
#include "common/solver/gang/repair/lost_pods.hpp"

namespace chipweave::solver {

class Homes {
 public:
  // failed: nodes whose pods are lost, ascending.
  Homes(const Fabric& fabric, const domain::Gang& gang, const std::vector<FabricNodeId>& failed,
        const std::vector<RunningPod>& pods);

  // A group that lost pods and ran in several domains of its required level: its number, or
  // nullopt. Such a gang cannot be repaired.
  std::optional<std::size_t> scattered() const { return scattered_; }
  // "the gang", "role leader", "subgroup a", "the roles together as team"
  std::string group_text(std::size_t group) const;
  int required_level(std::size_t group) const { return groups_[group].level; }

  DomainId region(const RunningPod& lost) const;
  // Groups with a required level that have lost all pods and every usable node of their domain: one
  // domain for all of their pods, whichever.
  std::vector<std::size_t> open_groups(int set) const;
  bool sliced(int set) const;

 private:
  struct Group {
    int level = domain::kNoLevel;
    std::string name;
    DomainId home = kNowhere;  // where its pods run or ran
    bool open = false;
  };
  void find_groups();
  const std::vector<std::size_t>& groups_of(int set) const {
    return of_set_[static_cast<std::size_t>(set) + 1];
  }
  bool is_failed(FabricNodeId node) const;
  bool usable(DomainId domain) const;

  const Fabric& fabric_;
  const domain::Gang& gang_;
  const std::vector<FabricNodeId>& failed_;
  std::vector<Group> groups_;                     // those with a required level
  std::vector<std::vector<std::size_t>> of_set_;  // by set + 1: the groups that it is in
  std::optional<std::size_t> scattered_;
  mutable std::map<DomainId, bool> usable_;
};

}  // namespace chipweave::solver
