// Plugin — the device plugin of one resource: answers the kubelet with the scheduler's decisions
// (core/), keeps itself registered, and says whether pods may be bound to this node.
//
// Owner of all state; loop thread only. The loop must outlive it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/pod/pod.hpp"
#include "common/http/loop.hpp"
#include "node-agent/device_plugin/core/choice.hpp"
#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/device_plugin/core/hand_over.hpp"
#include "node-agent/device_plugin/core/list_turn.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"
#include "node-agent/device_plugin/core/registration.hpp"
#include "node-agent/device_plugin/list_share.hpp"

namespace chipweave::device_plugin {

struct PluginOptions {
  using Ms = std::chrono::milliseconds;
  std::string node;
  std::string resource;
  // Another resource that counts the same chips, offered by another plugin of this process; empty:
  // there is none. Then nothing is offered before offers().
  std::string other_resource;
  std::string folder;         // of the kubelet's registration socket and of ours
  std::string pod_resources;  // the kubelet's other socket
  // Where the vendor's own plugin registers, which is kept behind this one; empty: there is none.
  std::string vendor_folder;
  OnMismatch on_mismatch = OnMismatch::refuse;
  HandOver hand_over;
  // Folder that contains the host's dev, and its proc and sys unless they are those of this
  // process; empty: /.
  std::string device_root;
  // False: there are no pods to be seen, so every request gets the best set.
  bool follows_pods = true;
  Ms wait_for_pod{300};    // that the API server has not shown yet
  Ms list_within{2'000};   // then the kubelet is taken to be unable to list
  Ms list_again{50};       // after a failure
  Ms start_within{2'000};  // until the owner of a container that starts must be known
  Ms look_every{200};      // at the kubelet's folder, besides inotify
  Ms held_again{2'000};    // how often to look whether the other resource's containers have ended
  // File (list_lock.hpp) by which the agent is kept from listing while chips are given away; empty:
  // there is no agent. How long a list of the agent may hold up the kubelet, and how often to look.
  std::string list_lock;
  Ms wait_for_lists{500};
  Ms lists_again{5};
  ListTurn::Gaps turn;
  Registration::Waits waits{};
};

// For people who watch the plugin.
struct PluginStanding {
  int registrations = 0;
  int healthy = 0;  // devices
  int unhealthy = 0;
  bool pods_stale = false;
  bool vendor_here = true;  // the vendor's plugin, if there is one
  friend bool operator==(const PluginStanding&, const PluginStanding&) = default;
};

struct PluginEvents {
  // An answer to the kubelet about the resource: "preferred", "allocate" or "start", what came of
  // it, and how long it took. May be empty, as may the next one.
  std::function<void(const std::string& resource, std::string_view call, std::string_view outcome,
                     std::chrono::nanoseconds)>
      answered;
  // When it changes.
  std::function<void(const std::string& resource, const PluginStanding&)> standing;
  // Whether pods may be bound to the node; at first they may not.
  std::function<void(bool open)> gate;
  // The pod has other chips than its annotation says, which must become `placement`.
  std::function<void(const PodRecord& pod, const std::string& placement,
                     std::function<void(Result<void>)> done)>
      correct;
  // A pod has asked that the API server did not show in time: a list of all pods is wanted, to know
  // whether it ever will. Called often until there was one.
  std::function<void()> wants_list;
};

class Plugin {
 public:
  // share: what it has in common with the plugins of other resources; null: it is alone.
  Plugin(http::Loop& loop, PluginOptions options, PluginEvents events,
         std::shared_ptr<ListShare> share = nullptr);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // Registers once the machine is known. Errors: unavailable: the vendor's plugin cannot be served,
  // or there can be no file for list_lock.
  Result<void> start();
  void machine(const domain::NodeTopology& topology);
  void machine_unknown();
  // Whether this resource has the chips, or the other one (or neither): only with other_resource.
  // If not, the plugin offers no devices and refuses requests for them. If so, it offers them as
  // soon as a list shows which of them containers have by the other name; it calls these unhealthy
  // until their containers end.
  void offers(bool yes);
  // Pods of this node.
  void pod_seen(const codec::KubePod& pod);
  void pod_gone(const std::string& key);
  // All of them are requested from the API server; what comes before pods_listed() may be older.
  void list_requested();
  void pods_listed();
  // The API server has not been seen for a while; until pods_listed().
  void pods_stale();
  // Pods must not be bound here any more: this program ends.
  void close_gate();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::device_plugin
