#include "node-agent/publish/node/unschedulable_watch.hpp"

#include <utility>

#include "common/obs/log.hpp"

namespace chipweave::agent {
namespace {

kube::Reflector<codec::KubeNodeMetadata>::Options unschedulable_with_name(const std::string& node) {
  kube::Reflector<codec::KubeNodeMetadata>::Options out;
  out.path = "/api/v1/nodes";
  out.selector = "fieldSelector=metadata.name%3D" + node + "%2Cspec.unschedulable%3Dtrue";
  out.metadata_only = true;
  return out;
}

}  // namespace

UnschedulableWatch::UnschedulableWatch(kube::Transport& transport, const std::string& node,
                                       std::uint64_t seed, std::function<void(bool)> changed)
    : changed_(std::move(changed)),
      random_(seed),
      watch_(transport, unschedulable_with_name(node),
             {{[this](codec::KubeNodeMetadata&&) { found(true); },
               [this](const std::string&) { found(false); }},
              [this] {
                listed_ = true;
                failing_ = false;
                found(unschedulable_);
              },
              [this, node](const kube::WatchFailure& failure) {
                if (std::exchange(failing_, true)) return;
                obs::log(obs::Level::warn, "cannot watch whether the node is unschedulable",
                         {{"node", node}, {"problem", failure.what}});
              }},
             [this] { return std::uniform_real_distribution<double>(0, 1)(random_); }) {}

void UnschedulableWatch::found(bool unschedulable) {
  unschedulable_ = unschedulable;
  if (!listed_ || reported_ == unschedulable) return;
  reported_ = unschedulable;
  changed_(unschedulable);
}

}  // namespace chipweave::agent
