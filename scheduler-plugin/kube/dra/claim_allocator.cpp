#include "scheduler-plugin/kube/dra/claim_allocator.hpp"

#include <chrono>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxDevices = 32;  // of a claim; by the API
constexpr std::chrono::milliseconds kLook{50};
constexpr int kLooks = 60;

// Allocates the claim once no other one has its devices.
class AllocateWhenFree final : public http::AsyncOperation<AllocateWhenFree> {
 public:
  AllocateWhenFree(kube::Transport& transport, const ClaimWatch& watch,
                   kube::AllocateRequest request, Done done)
      : transport_(transport),
        watch_(watch),
        request_(std::move(request)),
        done_(std::move(done)) {}

  void begin() {
    const std::string holder = watch_.holder_of(request_.claim.devices, request_.claim.pod_uid);
    if (holder.empty()) {
      ticket_ = kube::allocate_claim(transport_, std::move(request_),
                                     guarded([this](Result<void> result) {
                                       over_ = true;
                                       done_(std::move(result));
                                     }));
      return;
    }
    if (++looks_ < kLooks) {
      ticket_ = transport_.after(kLook, guarded([this] { begin(); }));
      return;
    }
    // it may be another call of this loop that is answered
    over_ = true;
    done_(make_error(Errc::not_sent, "a device of pod " + request_.claim.ns + "/" +
                                         request_.claim.pod + " is still allocated to claim " +
                                         holder));
  }
  void cancel() {
    over_ = true;
    ticket_.reset();
  }

 private:
  kube::Transport& transport_;
  const ClaimWatch& watch_;
  kube::AllocateRequest request_;
  Done done_;
  std::unique_ptr<kube::Ticket> ticket_;
  int looks_ = 0;
};

}  // namespace

ClaimAllocator::ClaimAllocator(kube::Transport& transport, const Clock& clock,
                               const NodeTable& nodes, const ClaimWatch& watch,
                               std::string device_class)
    : transport_(transport),
      clock_(clock),
      nodes_(nodes),
      watch_(watch),
      device_class_(std::move(device_class)) {}

Result<codec::PodClaim> ClaimAllocator::claim_of(const BindOrder& order) const {
  const Binding& binding = order.binding;
  const ClaimOrder& wanted = *order.claim;
  const NodeId id = nodes_.find(binding.node);
  if (id == kNoNode || !nodes_.node(id).has_inventory())
    return make_error(Errc::conflict, "node " + binding.node + ": inventory not received");
  if (wanted.chips.size() > kMaxDevices) {
    return make_error(Errc::conflict, "a ResourceClaim has at most 32 devices; the pod has " +
                                          std::to_string(wanted.chips.size()) + " chips");
  }
  auto devices = kube::devices_of_chips(watch_.devices(), binding.node, nodes_.node(id).resources,
                                        nodes_.node(id).topology, wanted.chips);
  if (!devices) return std::move(devices).error();
  codec::PodClaim claim;
  claim.ns = binding.key.ns;
  claim.pod = binding.key.name;
  claim.pod_uid = binding.uid;
  claim.resource = wanted.resource;
  claim.device_class = device_class_;
  claim.node = binding.node;
  claim.devices = std::move(*devices);
  claim.containers = wanted.containers;
  return claim;
}

std::unique_ptr<kube::Ticket> ClaimAllocator::allocate(const codec::PodClaim& claim,
                                                       std::function<bool()> may_send, Done done) {
  auto work = std::make_shared<AllocateWhenFree>(
      transport_, watch_, kube::AllocateRequest{claim, rfc3339(clock_.wall()), std::move(may_send)},
      std::move(done));
  auto ticket = http::ticket_of(work);
  work->begin();
  return ticket;
}

std::unique_ptr<kube::Ticket> ClaimAllocator::end(const codec::PodClaim& claim,
                                                  std::function<bool()> may_send, Done done) {
  return kube::end_claim(transport_, claim, std::move(may_send), std::move(done));
}

}  // namespace chipweave::sched
