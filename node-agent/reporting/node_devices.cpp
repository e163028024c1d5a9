#include "node-agent/reporting/node_devices.hpp"

#include <utility>

#include "common/obs/log.hpp"

namespace chipweave::agent {
namespace {

// Whole objects: devices are in the spec.
kube::Reflector<codec::KubeSlice>::Options slices_of(const std::string& node) {
  kube::Reflector<codec::KubeSlice>::Options out;
  out.path = "/apis/resource.k8s.io/v1/resourceslices";
  out.selector = "fieldSelector=spec.nodeName%3D" + node;
  return out;
}

}  // namespace

NodeDevices::NodeDevices(kube::Transport& transport, const std::string& node, std::uint64_t seed,
                         std::function<void()> changed)
    : changed_(std::move(changed)),
      random_(seed),
      watch_(transport, slices_of(node),
             {{[this](codec::KubeSlice&& slice) {
                 catalog_.take(std::move(slice));
                 news();
               },
               [this](const std::string& slice) {
                 catalog_.drop(slice);
                 news();
               }},
              [this] {
                listed_ = true;
                failing_ = false;
                news();
              },
              [this, node](const kube::WatchFailure& failure) {
                // Before Kubernetes 1.34 there is no such API.
                if (failure.status == kube::kNotFound || std::exchange(failing_, true)) return;
                obs::log(obs::Level::warn,
                         "cannot watch the ResourceSlices of the node: which chips pods have "
                         "through ResourceClaims is not known",
                         {{"node", node}, {"problem", failure.what}});
              }},
             [this] { return std::uniform_real_distribution<double>(0, 1)(random_); }) {}

void NodeDevices::news() {
  if (listed_) changed_();
}

}  // namespace chipweave::agent
