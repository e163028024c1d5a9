// PluginSet — the plugins of this process: one for its resource, or on a node of ACK one for
// nvidia.com/gpu and one for aliyun.com/gpu, of which the node's label chooses the one that has
// devices (core/ack_label.hpp). At most one has any, and chips that containers still have under the
// other name stay theirs.
//
// Loop thread only. The loop must outlive it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node-agent/device_plugin/core/ack_label.hpp"
#include "node-agent/device_plugin/plugin.hpp"

namespace chipweave::device_plugin {

// As PluginEvents, for each resource.
struct SetEvents {
  std::function<void(const std::string& resource, std::string_view call, std::string_view outcome,
                     std::chrono::nanoseconds)>
      answered;
  std::function<void(const std::string& resource, const PluginStanding&)> standing;
  // Whether pods may be bound to the node, as far as all plugins are concerned.
  std::function<void(bool open)> gate;
  std::function<void(const PodRecord& pod, const std::string& placement,
                     std::function<void(Result<void>)> done)>
      correct;
};

class PluginSet {
 public:
  // ack: for the label; options.resource is kUsualResource then, and nothing is offered before
  // node_label().
  PluginSet(http::Loop& loop, const PluginOptions& options, bool ack, SetEvents events);
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  Result<void> start();  // errors as Plugin's
  void machine(const domain::NodeTopology& topology);
  void machine_unknown();
  void pod_seen(const codec::KubePod& pod);
  void pod_gone(const std::string& key);
  void pods_listed();
  void pods_stale();
  // kAckLabel of the Node as it is now; nullopt: it has none.
  void node_label(const std::optional<std::string>& value);
  void close_gate();

 private:
  struct Member {
    std::string resource;
    bool open = false;
    std::unique_ptr<Plugin> plugin;
  };
  void add(http::Loop& loop, const PluginOptions& options, std::shared_ptr<ListShare> share);
  void show_gate();

  SetEvents events_;
  AckMode mode_ = AckMode::unknown;
  bool shown_open_ = false;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace chipweave::device_plugin
