// KubeletChips — which containers use which chips of this machine, by the kubelet's word: its
// checkpoints of allocated devices and of prepared claims, read at each change, and its answers
// over PodResources, asked only if its version bears it.
//
// Loop thread only; ends with its destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/kube/kubelet/kubelet_checkpoint.hpp"
#include "common/codec/kube/kubelet/kubelet_claims.hpp"
#include "common/http/loop.hpp"
#include "common/http/mailbox.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/kubelet/pod_resources_client.hpp"
#include "node-agent/publish/node/kubelet_version_reader.hpp"
#include "node-agent/reporting/node_devices.hpp"
#include "node-agent/reporting/reporting.hpp"
#include "node-agent/sources/file_watch.hpp"

namespace chipweave::agent {

class KubeletChips {
 public:
  struct Options {
    std::string node;
    std::string socket;  // checked before
    std::uint64_t seed = 0;
    // Where DRA drivers write what they prepare: claims may have changed. Empty: not watched.
    std::string cdi_folder = {};
    std::string list_lock = {};  // file (list_lock.hpp)
  };
  // events.users: with the first answer, and when it or the machine changes. events.given: with the
  // first checkpoint or answer, and likewise. given_up: the kubelet is too old to be asked, so that
  // nothing is to be waited for.
  KubeletChips(http::Loop& loop, kube::Transport& transport, Options options, KubeletEvents events,
               std::function<void()> given_up);
  ~KubeletChips();
  KubeletChips(const KubeletChips&) = delete;
  KubeletChips& operator=(const KubeletChips&) = delete;

  // The machine; the first one starts the questions.
  void want(const NodeStatePtr& state);

 private:
  void start();
  void version_known(bool usable);
  void read_checkpoints();
  void read_devices();
  void read_claims();
  void report();
  void report_given();

  http::Loop& loop_;
  Options options_;
  KubeletEvents events_;
  std::function<void()> given_up_;
  std::unique_ptr<PodResourcesClient> client_;
  std::shared_ptr<http::Mailbox<KubeletChips>> changed_;  // cut with this object
  std::unique_ptr<FileWatch> allocations_;
  KubeletVersionReader version_;
  NodeDevices devices_;
  NodeStatePtr state_;
  std::string devices_file_;
  std::string claims_file_;
  std::optional<AllocatedDevices> allocated_;             // as the kubelet reported last
  std::optional<codec::CheckpointedDevices> checkpoint_;  // as they were read last
  std::optional<codec::KubeletClaimDevices> claims_;
  bool devices_failing_ = false;
  bool claims_failing_ = false;
  std::optional<domain::GivenChips> given_;   // as reported last
  std::vector<std::string> unknown_devices_;  // as logged last
};

}  // namespace chipweave::agent
