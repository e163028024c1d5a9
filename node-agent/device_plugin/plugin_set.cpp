#include "node-agent/device_plugin/plugin_set.hpp"

#include <algorithm>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/obs/log.hpp"

namespace chipweave::device_plugin {

PluginSet::PluginSet(http::Loop& loop, const PluginOptions& options, bool ack, PluginEvents events)
    : events_(std::move(events)) {
  if (!ack) {
    add(loop, options, nullptr);
    return;
  }
  const auto share = std::make_shared<ListShare>(options.turn);
  // A former process may have given chips away a moment ago.
  share->turn.allocated(std::chrono::steady_clock::now());
  PluginOptions one = options;
  one.resource = kUsualResource;
  one.other_resource = kAckResource;
  add(loop, one, share);
  std::swap(one.resource, one.other_resource);
  add(loop, one, share);
}

void PluginSet::add(http::Loop& loop, const PluginOptions& options,
                    std::shared_ptr<ListShare> share) {
  Member& member = *members_.emplace_back(std::make_unique<Member>());
  member.resource = options.resource;
  PluginEvents events = events_;
  events.gate = [this, &member](bool open) {
    member.open = open;
    show_gate();
  };
  member.plugin = std::make_unique<Plugin>(loop, options, std::move(events), std::move(share));
}

void PluginSet::show_gate() {
  const bool open = std::all_of(members_.begin(), members_.end(),
                                [](const auto& member) { return member->open; });
  if (std::exchange(shown_open_, open) != open && events_.gate) events_.gate(open);
}

Result<void> PluginSet::start() {
  for (const auto& member : members_) {
    if (auto ok = member->plugin->start(); !ok) return ok;
  }
  return {};
}

void PluginSet::machine(const domain::NodeTopology& topology) {
  for (const auto& member : members_) member->plugin->machine(topology);
}

void PluginSet::machine_unknown() {
  for (const auto& member : members_) member->plugin->machine_unknown();
}

void PluginSet::pod_seen(const codec::KubePod& pod) {
  for (const auto& member : members_) member->plugin->pod_seen(pod);
}

void PluginSet::pod_gone(const std::string& key) {
  for (const auto& member : members_) member->plugin->pod_gone(key);
}

void PluginSet::list_requested() {
  for (const auto& member : members_) member->plugin->list_requested();
}

void PluginSet::pods_listed() {
  for (const auto& member : members_) member->plugin->pods_listed();
}

void PluginSet::pods_stale() {
  for (const auto& member : members_) member->plugin->pods_stale();
}

void PluginSet::node_label(const std::optional<std::string>& value) {
  const AckMode now = next_mode(mode_, value);
  if (std::exchange(mode_, now) == now) return;
  const std::string chosen = resource_of(now);
  obs::log(now == AckMode::foreign ? obs::Level::warn : obs::Level::info,
           chosen.empty() ? "another device plugin has the chips of this node: none are offered"
                          : "the node's label has chosen the resource that has its chips",
           {{"label", kAckLabel},
            {"value", value ? printable(*value) : "none"},
            {"resource", chosen.empty() ? "none" : chosen}});
  // First the one that has them, so that at no time two do.
  for (const auto& member : members_) {
    if (member->resource != chosen) member->plugin->offers(false);
  }
  for (const auto& member : members_) {
    if (member->resource == chosen) member->plugin->offers(true);
  }
}

void PluginSet::close_gate() {
  for (const auto& member : members_) member->plugin->close_gate();
}

}  // namespace chipweave::device_plugin
