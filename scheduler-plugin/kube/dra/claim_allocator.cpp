#include "scheduler-plugin/kube/dra/claim_allocator.hpp"

#include <chrono>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxDevices = 32;  // of a claim; by the API
constexpr std::chrono::milliseconds kLook{50};
constexpr int kLooks = 60;
constexpr std::size_t kAtOnce = 16;  // allocations, of three requests each

// Allocates the claim once no other one has its devices, and it is its turn.
class AllocateWhenFree final : public http::AsyncOperation<AllocateWhenFree> {
 public:
  AllocateWhenFree(kube::Transport& transport, const ClaimWatch& watch,
                   std::shared_ptr<Turns> turns, std::shared_ptr<TakenClaims> taken,
                   kube::AllocateRequest request, Done done)
      : transport_(transport),
        watch_(watch),
        turns_(std::move(turns)),
        taken_(std::move(taken)),
        request_(std::move(request)),
        done_(std::move(done)) {}

  void begin() {
    const codec::PodClaim& claim = request_.claim;
    const std::string holder = watch_.holder_of(claim.devices, claim.pod_uid);
    // it holds none while it waits, so that no two wait for each other
    if (holder.empty() && taken_->reserve(claim.pod_uid, claim.devices)) {
      // the time of the allocation runs from then on
      return turns_->ask([self = weak_from_this()] {
        const auto alive = self.lock();
        return alive != nullptr && alive->allocate();
      });
    }
    if (++looks_ < kLooks) {
      ticket_ = transport_.after(kLook, guarded([this] { begin(); }));
      return;
    }
    // it may be another call of this loop that is answered
    over_ = true;
    done_(make_error(Errc::not_sent,
                     "a device of pod " + claim.ns + "/" + claim.pod +
                         (holder.empty() ? " is being allocated to the claim of another pod"
                                         : " is still allocated to claim " + holder)));
  }
  void cancel() {
    over_ = true;
    ticket_.reset();
    end_turn();
  }

 private:
  bool allocate() {
    if (over_) return false;
    running_ = true;
    ticket_ =
        kube::allocate_claim(transport_, std::move(request_), guarded([this](Result<void> result) {
                               over_ = true;
                               end_turn();
                               done_(std::move(result));
                             }));
    return true;
  }
  void end_turn() {
    if (std::exchange(running_, false)) turns_->end();
  }

  kube::Transport& transport_;
  const ClaimWatch& watch_;
  const std::shared_ptr<Turns> turns_;
  const std::shared_ptr<TakenClaims> taken_;
  kube::AllocateRequest request_;
  Done done_;
  std::unique_ptr<kube::Ticket> ticket_;
  int looks_ = 0;
  bool running_ = false;  // it has a turn
};

}  // namespace

ClaimAllocator::ClaimAllocator(kube::Transport& transport, const Clock& clock,
                               const NodeTable& nodes, ClaimWatch& watch, std::string device_class)
    : transport_(transport),
      clock_(clock),
      nodes_(nodes),
      watch_(watch),
      device_class_(std::move(device_class)),
      turns_(std::make_shared<Turns>(kAtOnce)),
      taken_(std::make_shared<TakenClaims>()) {}

// Operations may outlive it.
ClaimAllocator::~ClaimAllocator() { turns_->close(); }

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
  kube::AllocateRequest request{claim, rfc3339(clock_.wall()), std::move(may_send)};
  // Its pod may be gone before the watch shows the claim, and its chips go to another pod.
  request.shown = [&watch = watch_](codec::KubeClaim shown) { watch.note(std::move(shown)); };
  auto work = std::make_shared<AllocateWhenFree>(transport_, watch_, turns_, taken_,
                                                 std::move(request), std::move(done));
  auto ticket = http::ticket_of(work);
  work->begin();
  return ticket;
}

std::unique_ptr<kube::Ticket> ClaimAllocator::end(const codec::PodClaim& claim,
                                                  std::function<bool()> may_send, Done done) {
  return kube::end_claim(transport_, claim, std::move(may_send), std::move(done));
}

}  // namespace chipweave::sched
