// Gate — whether pods may be bound to this node: only while the kubelet can admit them with the
// right chips. No I/O, no clock.
#pragma once

#include <algorithm>
#include <string>

#include "node-agent/device_plugin/core/listed.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"

namespace chipweave::device_plugin {

class Gate {
 public:
  // The kubelet's socket has vanished, or it has dropped us: what it lists next is not complete.
  void kubelet_lost() { registered_ = listed_ = false; }
  void registered() { registered_ = true; }
  // A list since then shows every running pod.
  void complete() { listed_ = registered_; }
  // The vendor's plugin behind ours is away: the kubelet has no healthy devices.
  void vendor(bool here) { vendor_ = here; }
  // With two resources for the same chips: whether the kubelet may be told what this one has.
  void decided(bool yes) { decided_ = yes; }
  // What is known of the pods is old: bindings of the scheduler are not seen.
  void pods_stale(bool yes) { stale_ = yes; }
  // For good: the plugin ends.
  void close() { closed_ = true; }

  bool wants_list() const { return registered_ && !listed_ && !closed_; }
  bool open() const { return registered_ && listed_ && vendor_ && decided_ && !stale_ && !closed_; }

 private:
  bool registered_ = false;
  bool listed_ = false;
  bool vendor_ = true;
  bool decided_ = true;
  bool stale_ = false;
  bool closed_ = false;
};

// The first running pod whose chips are not in the list; empty: it shows them all. A kubelet that
// has just started lists its pods bit by bit.
inline std::string missing_in(const Listed& list, const PodBook& book) {
  for (const auto& entry : book.pods()) {
    const PodRecord& pod = entry.second;
    if (!pod.running || pod.ending) continue;
    const bool has_chips = std::any_of(pod.containers.begin(), pod.containers.end(),
                                       [](const AskingContainer& c) { return !c.init; });
    if (!has_chips) continue;
    const auto listed = std::find_if(list.pods.begin(), list.pods.end(),
                                     [&](const Listed::Pod& one) { return one.key == pod.key; });
    const bool whole =
        listed != list.pods.end() &&
        std::all_of(pod.containers.begin(), pod.containers.end(),
                    [&](const AskingContainer& c) { return c.init || listed->has_chips(c.name); });
    if (!whole) return entry.first;
  }
  return {};
}

}  // namespace chipweave::device_plugin
