// Desk — all that is known for answering the kubelet, and the answers: pods and their decisions,
// the machine, and which pods cannot be asking any more. No I/O, no clock, no log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "node-agent/device_plugin/core/asker.hpp"
#include "node-agent/device_plugin/core/choice.hpp"
#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/device_plugin/core/listed.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"
#include "node-agent/device_plugin/core/start_check.hpp"

namespace chipweave::device_plugin {

// What the kubelet asks, devices by their ids.
struct AskedPreference {
  std::vector<std::string> available;
  std::vector<std::string> must_include;
  int size = 0;
};

struct Preferred {
  Result<Choice> choice;
  std::string container;  // "namespace/pod/container" that asks; empty: not known
};

class Desk {
 public:
  // follows_pods: false if there are none to be seen, so that every request gets the best set.
  Desk(std::string node, std::string resource, OnMismatch policy, bool follows_pods)
      : book_(std::move(node), std::move(resource)), policy_(policy), follows_(follows_pods) {}

  void machine(DevicesPtr devices) { devices_ = std::move(devices); }
  const DevicesPtr& devices() const { return devices_; }  // null: not known yet
  const PodBook& book() const { return book_; }

  void pod_seen(const codec::KubePod& pod);
  void pod_gone(const std::string& key) { book_.drop(key); }
  // A list of all pods is requested from the API server, and has been shown: whatever had its turn
  // before the request and is not in it will never be shown.
  void list_requested();
  void list_shown();
  // Pods had their turns that have not been shown, so that later ones of their names are taken for
  // them and refused, until a list shows that they have gone.
  bool awaits_list() const { return !out_.unseen_turns.empty(); }
  // Whatever had its turn may be admitted again.
  void kubelet_restarted();
  // Each list that the kubelet gives.
  void learn(const Listed& list);
  // A list of a moment without a request, when all pods that exist have been shown: what is not
  // known by then has been deleted, and asks no more.
  void learn_strangers(const Listed& list);

  // list: asked for after the request came. nullopt: a pod may be the asker that the API server has
  // not shown yet, and may_wait.
  std::optional<Preferred> prefer(const AskedPreference& asked, const Listed& list, bool may_wait);
  StartCheck start(const std::vector<std::string>& ids, const Listed& list) const;

 private:
  void turn_over(const PodRecord& asker, const Listed& list);
  void forget();

  PodBook book_;
  OnMismatch policy_;
  bool follows_;
  DevicesPtr devices_;
  RuledOut out_;
};

}  // namespace chipweave::device_plugin
