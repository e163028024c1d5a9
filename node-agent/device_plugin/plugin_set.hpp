// PluginSet — the plugins of this process: one for its resource, or on a node of ACK one for
// nvidia.com/gpu and one for aliyun.com/gpu, of which the node's label chooses the one that has
// devices (core/ack_label.hpp). At most one has any, and chips that containers still have under the
// other name stay theirs.
//
// Loop thread only. The loop must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node-agent/device_plugin/core/ack_label.hpp"
#include "node-agent/device_plugin/plugin.hpp"

namespace chipweave::device_plugin {

class PluginSet {
 public:
  // ack: for the label; options.resource is kUsualResource then, and nothing is offered before
  // node_label(). events.gate: as far as all plugins are concerned.
  PluginSet(http::Loop& loop, const PluginOptions& options, bool ack, PluginEvents events);
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  Result<void> start();  // errors as Plugin's
  void machine(const domain::NodeTopology& topology);
  void machine_unknown();
  void pod_seen(const codec::KubePod& pod);
  void pod_gone(const std::string& key);
  void list_requested();
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

  PluginEvents events_;
  AckMode mode_ = AckMode::unknown;
  bool shown_open_ = false;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace chipweave::device_plugin
