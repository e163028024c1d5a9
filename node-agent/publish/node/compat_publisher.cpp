#include "node-agent/publish/node/compat_publisher.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "common/codec/mindcluster/node/device_info.hpp"
#include "common/codec/mindcluster/node/node_info.hpp"
#include "common/domain/vendor.hpp"
#include "common/http/sha256.hpp"
#include "common/kube/config_map_keeper.hpp"
#include "common/obs/log.hpp"
#include "node-agent/publish/compat/ack_content.hpp"
#include "node-agent/publish/compat/mindcluster_content.hpp"
#include "node-agent/publish/compat/node_labels.hpp"
#include "node-agent/publish/node/cordon.hpp"
#include "node-agent/publish/node/node_keeper.hpp"
#include "node-agent/publish/node/unschedulable_watch.hpp"

namespace chipweave::agent {
namespace {

namespace mc = codec::mindcluster;

constexpr std::chrono::minutes kRewriteDeviceInfo{5};  // as MindCluster's device plugin does
constexpr std::chrono::seconds kFileAgain{60};

using Wanted = kube::ConfigMapKeeper::Wanted;

}  // namespace

struct CompatPublisher::Impl {
  Impl(kube::Transport& t, const Clock& c, CompatOptions o, CompatEvents e)
      : transport(t),
        clock(c),
        options(std::move(o)),
        events(std::move(e)),
        known([this](const std::string& what) { warn(what); }),
        commands(known, {options.mindcluster, options.in_use}, events.commands),
        node(t, node_options(),
             {[this](const codec::KubeNodeMetadata& seen) { node_seen(seen); }, works("node"),
              [this] { node_read(); }}),
        unschedulable(std::in_place, t, options.node, options.seed,
                      [this](bool yes) { commands.set_unschedulable(yes); }) {
    if (options.mindcluster) {
      device_info.emplace(
          t, c, device_info_options(),
          kube::ConfigMapKeeper::Events{
              [this](const codec::StringMap& edited) { list_seen(edited); }, works("device-info"),
              [this] {
                commands.list_read();
                if (events.list_known) events.list_known();
              }});
      node_info.emplace(
          t, c, map_options(std::string(mc::kNodeInfoNamespace), std::string(mc::kNodeInfoPrefix)),
          kube::ConfigMapKeeper::Events{nullptr, works("node-info")});
    }
    if (options.ack) {
      ack.emplace(t, c, map_options(kAckNamespace, kAckPrefix),
                  kube::ConfigMapKeeper::Events{nullptr, works("ack")});
    }
  }

  void warn(const std::string& what) const {
    obs::log(obs::Level::warn, "node " + options.node, {{"problem", what}});
  }
  std::function<void(bool)> works(const char* part) {
    return [this, part](bool yes) {
      if (events.works) events.works(part, yes);
    };
  }
  kube::ApiChain::Options chain_options(const std::string& what) const {
    kube::ApiChain::Options out;
    out.what = what;
    out.seed = options.seed;
    return out;
  }
  NodeKeeper::Options node_options() const {
    NodeKeeper::Options out;
    out.node = options.node;
    out.chain = chain_options("node " + options.node);
    return out;
  }
  kube::ConfigMapKeeper::Options map_options(std::string ns, const std::string& prefix) const {
    kube::ConfigMapKeeper::Options out;
    out.ns = std::move(ns);
    out.name = prefix + options.node;
    out.managed_by = "chipweave-agent";
    out.read_by_patch = true;
    out.chain = chain_options("configmap " + out.ns + "/" + out.name);
    return out;
  }
  // An existing one was written by MindCluster's device plugin, without our label.
  kube::ConfigMapKeeper::Options device_info_options() const {
    kube::ConfigMapKeeper::Options out =
        map_options(std::string(mc::kDeviceInfoNamespace), std::string(mc::kDeviceInfoPrefix));
    out.take_over = true;
    out.held = true;  // it carries a command, too, which must be read first
    out.rewrite_every = kRewriteDeviceInfo;
    return out;
  }

  void apply() {
    node.want(wanted_metadata());
    if (device_info) device_info->want(wanted_device_info());
    if (node_info) node_info->want(wanted_node_info());
    if (ack) ack->want(wanted_ack());
    write_features();
    commands.set_machine(state);
  }

  NodeMetadata wanted_metadata() const {
    NodeMetadata out;
    if (options.labels) out.labels.merge(node_labels(*state));
    if (options.gfd_labels) out.labels.merge(gfd_labels(*state));
    if (options.metax_labels) out.labels.merge(metax_labels(*state));
    if (options.mindcluster) out.add(mindcluster_metadata(*state));
    return out;
  }

  std::optional<Wanted> wanted_device_info() const {
    if (!domain::vendor_of(state->topology).in_mindcluster) return std::nullopt;
    return Wanted{{{std::string(mc::kDeviceInfoLabel), "true"}},
                  [state = state, used = used](std::int64_t stamp) {
                    return device_info_data(*state, used, stamp, http::sha256);
                  },
                  {std::string(mc::kManuallySeparateKey)}};
  }

  std::optional<Wanted> wanted_node_info() const {
    auto data = node_info_data(*state, http::sha256);
    if (!data) return std::nullopt;
    // ClusterD watches ConfigMaps with this label.
    return Wanted{{{std::string(mc::kDeviceInfoLabel), "true"}},
                  [data = *std::move(data)](std::int64_t) { return data; },
                  {}};
  }

  std::optional<Wanted> wanted_ack() {
    auto data = ack_mode == true ? ack_data(*state) : std::nullopt;
    if (!data) return std::nullopt;
    auto labels = ack_labels(options.node);
    if (!labels) {
      known.report_once("the node's name is too long for the label of ACK's ConfigMap");
      return std::nullopt;
    }
    return Wanted{*std::move(labels), [data = *std::move(data)](std::int64_t) { return data; }, {}};
  }

  void write_features() {
    if (options.nfd_file.empty() || !events.write_file) return;
    std::string text = nfd_features(node_labels(*state));
    if (text == features) return;
    const auto written = events.write_file(options.nfd_file, text);
    if (written) {
      features = std::move(text);
      file_again.reset();
      return;
    }
    known.report_once(written.error().text());
    file_again = transport.after(kFileAgain, [this] { write_features(); });
  }

  void list_seen(const codec::StringMap& edited) {
    const auto list = edited.find(mc::kManuallySeparateKey);
    if (list == edited.end()) return;
    commands.set_separated(list->second);
  }

  void node_seen(const codec::KubeNodeMetadata& seen) {
    const auto mode = seen.labels.find(kAckModeLabel);
    const bool topology = mode != seen.labels.end() && mode->second == kAckTopologyMode;
    set_ack_mode(topology);
    commands.set_annotations(seen);
    if (events.node_known) events.node_known();
    if (const auto done = commands.take_clear_command(seen))
      node.carried_out(kClearAnnotation, *done);
  }

  // The Node was read, and may not exist.
  void node_read() {
    commands.node_read();
    if (!ack_mode) set_ack_mode(false);
    if (events.node_known) events.node_known();
  }

  void set_ack_mode(bool yes) {
    const bool first = !ack_mode.has_value();
    if (std::exchange(ack_mode, yes) == yes || !ack) return;
    ack->want(wanted_ack());
    if (first && publishing) ack->start();
  }

  void start() {
    node.start();
    unschedulable->start();
    if (device_info) device_info->start();
  }

  // ACK's only once its mode is known: else the ConfigMap of the previous run would be deleted and
  // recreated.
  void publish_config_maps() {
    publishing = true;
    if (device_info) device_info->release();
    if (node_info) node_info->start();
    if (ack && ack_mode) ack->start();
  }

  kube::Transport& transport;
  const Clock& clock;
  CompatOptions options;
  CompatEvents events;
  KnownChips known;
  NodeCommands commands;
  NodeStatePtr state;
  std::vector<domain::ChipIndex> used;
  std::optional<bool> ack_mode;  // whether the Node is in ACK's topology mode; absent: not read yet
  bool publishing = false;       // ConfigMaps
  std::string features;          // as written to the file
  std::unique_ptr<kube::Ticket> file_again;
  NodeKeeper node;
  std::optional<UnschedulableWatch> unschedulable;  // absent: stopped
  std::optional<kube::ConfigMapKeeper> device_info;
  std::optional<kube::ConfigMapKeeper> node_info;
  std::optional<kube::ConfigMapKeeper> ack;
};

CompatPublisher::CompatPublisher(kube::Transport& transport, const Clock& clock,
                                 CompatOptions options, CompatEvents events)
    : impl_(std::make_unique<Impl>(transport, clock, std::move(options), std::move(events))) {}

CompatPublisher::~CompatPublisher() = default;

void CompatPublisher::want(NodeStatePtr state) {
  if (state == impl_->state) return;
  impl_->state = std::move(state);
  impl_->apply();
}

void CompatPublisher::in_use(std::vector<domain::ChipIndex> chips) {
  impl_->commands.set_in_use(!chips.empty());
  if (chips == impl_->used) return;
  impl_->used = std::move(chips);
  if (impl_->state) impl_->apply();
}

void CompatPublisher::in_use_unknown() { impl_->commands.in_use_unknown(); }

void CompatPublisher::start() { impl_->start(); }

void CompatPublisher::publish_config_maps() { impl_->publish_config_maps(); }

void CompatPublisher::stop() {
  impl_->file_again.reset();
  impl_->node.stop();
  impl_->unschedulable.reset();
  for (auto* keeper : {&impl_->device_info, &impl_->node_info, &impl_->ack}) {
    if (*keeper) (*keeper)->stop();
  }
}

}  // namespace chipweave::agent
