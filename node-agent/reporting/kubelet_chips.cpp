#include "node-agent/reporting/kubelet_chips.hpp"

#include <filesystem>
#include <utility>

#include "common/domain/vendor.hpp"
#include "common/obs/log.hpp"

namespace chipweave::agent {
namespace {

// The kubelet writes its checkpoint of allocated devices when an allocation is complete.
std::string checkpoint_of(const std::string& socket) {
  return std::filesystem::path(socket).parent_path().parent_path() / "device-plugins" /
         "kubelet_internal_checkpoint";
}

kube::ApiChain::Options chain_options(const KubeletChips::Options& options) {
  kube::ApiChain::Options out;
  out.what = "node " + options.node;
  out.seed = options.seed;
  return out;
}

}  // namespace

KubeletChips::KubeletChips(http::Loop& loop, kube::Transport& transport, Options options,
                           KubeletEvents events, std::function<void()> given_up)
    : loop_(loop),
      options_(std::move(options)),
      events_(std::move(events)),
      given_up_(std::move(given_up)),
      version_(transport, options_.node, chain_options(options_),
               [this](bool usable) { version_known(usable); }) {}

void KubeletChips::want(const NodeStatePtr& state) {
  const bool first = std::exchange(state_, state) == nullptr;
  if (first) start();
  report();
}

void KubeletChips::start() {
  PodResourcesOptions asking;
  asking.socket = options_.socket;
  asking.resources = domain::vendor_of(state_->topology).resource_domain;
  asking.seed = options_.seed;
  PodResourcesEvents answers;
  answers.answers = [this](bool yes) {
    if (events_.answers) events_.answers(yes);
    if (!yes) version_.read();  // it may be another one when it answers again
  };
  answers.allocated = [this](const AllocatedDevices& allocated) {
    allocated_ = allocated;
    report();
  };
  client_ = std::make_unique<PodResourcesClient>(loop_, std::move(asking), std::move(answers));
  const std::string checkpoint = checkpoint_of(options_.socket);
  allocations_ = std::make_unique<FileWatch>(std::vector{checkpoint}, client_->change_notifier());
  if (!allocations_->complete()) {
    obs::log(obs::Level::warn,
             "new allocations are noticed within a minute only: mount the folder of this file",
             {{"file", checkpoint}});
  }
  version_.read();
}

void KubeletChips::version_known(bool usable) {
  if (events_.supported) events_.supported(usable);
  if (usable) return client_->start();
  client_->stop();
  if (given_up_) given_up_();
}

void KubeletChips::report() {
  if (!allocated_) return;
  const ChipUsers now = chip_users(*state_, *allocated_);
  if (now.unknown_devices != unknown_devices_ && !now.unknown_devices.empty()) {
    obs::log(
        obs::Level::warn,
        "the kubelet lists devices that this machine does not have; they are ignored: check the "
        "device plugin of this node",
        {{"first", now.unknown_devices.front()}});
  }
  unknown_devices_ = now.unknown_devices;
  if (events_.users) events_.users(now);
}

}  // namespace chipweave::agent
