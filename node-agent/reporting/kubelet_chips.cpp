#include "node-agent/reporting/kubelet_chips.hpp"

#include <filesystem>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"
#include "common/io/files.hpp"
#include "common/obs/log.hpp"
#include "node-agent/kubelet/pod_uids.hpp"
#include "node-agent/sources/list_lock.hpp"

namespace chipweave::agent {
namespace {

std::filesystem::path folder_of_kubelet(const std::string& socket) {
  return std::filesystem::path(socket).parent_path().parent_path();
}

// The kubelet writes it when an allocation is complete.
std::string devices_file_of(const std::string& socket) {
  return folder_of_kubelet(socket) / "device-plugins" / "kubelet_internal_checkpoint";
}

// And this one when the claims of a pod are prepared or ended.
std::string claims_file_of(const std::string& socket) {
  return folder_of_kubelet(socket) / "dra_manager_state";
}

// Those of the vendor, parts of chips among them, and other names that chips are counted as.
std::vector<std::string> resources_of(const NodeState& state) {
  std::vector<std::string> out = state.resources;
  out.emplace_back(domain::vendor_of(state.topology).resource_domain);
  return out;
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
               [this](bool usable) { version_known(usable); }),
      devices_(transport, options_.node, options_.seed, [this] {
        if (state_ != nullptr) report();
      }) {}

KubeletChips::~KubeletChips() {
  if (changed_) changed_->cut();
}

void KubeletChips::want(const NodeStatePtr& state) {
  const bool first = std::exchange(state_, state) == nullptr;
  if (first) start();
  report();
}

void KubeletChips::start() {
  PodResourcesOptions asking;
  asking.socket = options_.socket;
  asking.resources = resources_of(*state_);
  asking.seed = options_.seed;
  asking.permit = [file = options_.list_lock] { return permit_to_list(file); };
  PodResourcesEvents answers;
  answers.answers = [this](bool yes) {
    if (events_.answers) events_.answers(yes);
    if (!yes) version_.read();  // it may be another one when it answers again
  };
  answers.allocated = [this](const AllocatedDevices& allocated) {
    allocated_ = allocated;
    read_checkpoints();  // they are of one moment
    report();
  };
  client_ = std::make_unique<PodResourcesClient>(loop_, std::move(asking), std::move(answers));
  devices_file_ = devices_file_of(options_.socket);
  claims_file_ = claims_file_of(options_.socket);
  changed_ = std::make_shared<http::Mailbox<KubeletChips>>(loop_, *this);
  std::vector watched{devices_file_, claims_file_};
  if (!options_.cdi_folder.empty()) watched.push_back(options_.cdi_folder + "/");
  allocations_ =
      std::make_unique<FileWatch>(watched, [notify = client_->change_notifier(), box = changed_] {
        notify();
        box->post([](KubeletChips& self) {
          self.read_checkpoints();
          self.report_given();
        });
      });
  if (!allocations_->complete()) {
    obs::log(obs::Level::warn,
             "new allocations are noticed within a minute only: mount the folders of these files",
             {{"files", joined(watched, ",")}});
  }
  read_checkpoints();
  devices_.start();
  version_.read();
}

void KubeletChips::read_checkpoints() {
  read_devices();
  read_claims();
}

// Small, and on a local disk. The kubelet replaces it as a whole.
void KubeletChips::read_devices() {
  auto text = io::read_file(devices_file_, limits::kMaxPodResourcesBytes);
  auto devices = text ? codec::read_kubelet_checkpoint(*text, resources_of(*state_))
                      : Result<codec::CheckpointedDevices>(std::move(text).error());
  if (devices) {
    devices_failing_ = false;
    checkpoint_ = std::move(devices).value();
    return;
  }
  // A node without device plugins has none.
  if (devices.error().code == Errc::not_found) checkpoint_.reset();
  if (devices.error().code == Errc::not_found || std::exchange(devices_failing_, true)) return;
  obs::log(obs::Level::warn,
           "cannot read the kubelet's checkpoint: which chips a pod has is known later, and not "
           "which of two pods with one name has them",
           {{"file", devices_file_}, {"error", devices.error().text()}});
}

void KubeletChips::read_claims() {
  auto text = io::read_file(claims_file_, limits::kMaxPodResourcesBytes);
  auto claims = text ? codec::read_kubelet_claims(*text)
                     : Result<codec::KubeletClaimDevices>(std::move(text).error());
  if (claims) {
    claims_failing_ = false;
    claims_ = std::move(claims).value();
    return;
  }
  claims_.reset();
  // Where the kubelet's folder is not mounted, its answers have to do.
  if (claims.error().code == Errc::not_found || std::exchange(claims_failing_, true)) return;
  obs::log(obs::Level::warn,
           "cannot read the kubelet's checkpoint of claims: which chips a pod with claims has is "
           "known later",
           {{"file", claims_file_}, {"error", claims.error().text()}});
}

void KubeletChips::version_known(bool usable) {
  if (events_.supported) events_.supported(usable);
  if (usable) return client_->start();
  client_->stop();
  if (given_up_) given_up_();
}

void KubeletChips::report_given() {
  if (!events_.given || (!allocated_ && !checkpoint_ && !claims_)) return;
  AllocatedDevices devices = with_uids(allocated_.value_or(AllocatedDevices()),
                                       checkpoint_.value_or(codec::CheckpointedDevices()));
  if (claims_) devices = with_claims(std::move(devices), *claims_);
  domain::GivenChips now = given_chips(*state_, devices, devices_.catalog());
  if (given_ == now) return;
  given_ = std::move(now);
  events_.given(*given_);
}

void KubeletChips::report() {
  report_given();
  if (!allocated_) return;
  const ChipUsers now = chip_users(*state_, *allocated_, devices_.catalog());
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
