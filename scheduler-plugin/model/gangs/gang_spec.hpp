// GangKey and GangSpec — which gang, and what it asks for beyond what its pods' marks say.
#pragma once

#include <compare>
#include <string>

#include "common/domain/gangs/gang_spec.hpp"

namespace chipweave::sched {

using domain::GangSpec;
using domain::RoleSpec;
using domain::SubgroupSpec;
using domain::TopologyWish;

struct GangKey {
  std::string ns;
  std::string framework;  // of GangMark
  std::string name;
  // "namespace/framework/name"
  std::string text() const { return ns + "/" + framework + "/" + name; }
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

}  // namespace chipweave::sched
