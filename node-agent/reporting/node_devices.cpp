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
             {{[this](codec::KubeSlice&& slice) { take(std::move(slice)); },
               [this](const std::string& slice) { drop(slice); }},
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

void NodeDevices::take(codec::KubeSlice&& slice) {
  Pool pool{slice.driver, slice.pool};
  std::erase_if(gone_, [&](const auto& one) {
    if (one.second == pool && one.first != slice.name) catalog_.drop(one.first);
    return one.second == pool;
  });
  there_.insert_or_assign(slice.name, std::move(pool));
  catalog_.take(std::move(slice));
  news();
}

void NodeDevices::drop(const std::string& slice) {
  const auto found = there_.find(slice);
  if (found == there_.end()) return;
  gone_.insert(there_.extract(found));
}

void NodeDevices::news() {
  if (listed_) changed_();
}

}  // namespace chipweave::agent
