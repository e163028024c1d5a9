// ListShare — what the plugins of one process have in common: a list of the kubelet concerns all
// resources, so none of them may ask for one while it gives away chips of another.
#pragma once

#include <optional>

#include "node-agent/device_plugin/core/list_turn.hpp"
#include "node-agent/sources/list_lock.hpp"

namespace chipweave::device_plugin {

struct ListShare {
  explicit ListShare(ListTurn::Gaps gaps) : turn(gaps) {}

  ListTurn turn;
  bool listing = false;                 // one of the plugins has asked for a list
  std::optional<agent::ListLock> lock;  // which keeps the agent from asking; nullopt: no agent
};

}  // namespace chipweave::device_plugin
