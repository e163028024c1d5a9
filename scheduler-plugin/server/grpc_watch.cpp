#include "scheduler-plugin/server/grpc_watch.hpp"

#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/base/result.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/status.hpp"
#include "scheduler-plugin/server/grpc_decode.hpp"
#include "scheduler-plugin/server/grpc_message.hpp"

namespace chipweave::sched {
namespace {

// Decisions read from the core at a time: about ten microseconds of the loop.
constexpr std::size_t kPart = 256;

std::int64_t unix_ms(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

v1::DecisionEvent event_of(v1::DecisionKind kind, const PodKey& pod, const std::string& uid,
                           const std::string& node) {
  v1::DecisionEvent out;
  out.set_kind(kind);
  out.mutable_pod()->set_namespace_(pod.ns);
  out.mutable_pod()->set_name(pod.name);
  out.set_uid(uid);
  out.set_node(node);
  return out;
}

// One stream. Phases: admitting → waiting (for a slot) → reading → opening → idle ⇄ writing, until
// finished. `mutex_` guards the phase and the
// queue and is held over StartWrite and Finish, so that nothing is started on a call that another
// thread has just finished (gRPC runs completions on its own threads, never inside these calls).
class WatchStream final : public grpc::ServerGenericBidiReactor,
                          public LiveCall,
                          public SlotHolder,
                          public DecisionFeed::Follower {
 public:
  using Event = DecisionFeed::Event;

  WatchStream(std::shared_ptr<LiveCalls> calls, grpc::CallbackServerContext* context)
      : calls_(std::move(calls)), context_(context) {}

  void begin(const std::shared_ptr<WatchStream>& self) {
    self_ = self;
    GrpcCaller caller = caller_of(*context_, kWatchDecisions.data(), GrpcAccess::read);
    grpc::Status refused = calls_->look_at(*context_, caller);
    if (refused.ok()) refused = calls_->add(self, LiveCalls::Kind::stream);
    if (!refused.ok() || !calls_->options.check_token) return admit(refused);
    calls_->loop.post([self, caller = std::move(caller)] {
      self->calls_->let_in(self, LiveCalls::Kind::stream, caller,
                           [self](const grpc::Status& status) { self->admit(status); });
    });
  }

  void slot_granted() override {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::waiting) read();
  }

  void slot_overdue() override {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::reading) finish(message_is_late());
  }

  void OnReadDone(bool ok) override {
    {
      const std::lock_guard lock(mutex_);
      if (phase_ != Phase::reading) return;
      if (!ok) return finish({grpc::StatusCode::INVALID_ARGUMENT, "the call has no message"});
      auto request = calls_->one_at_a_time(
          [this] { return parse_message<v1::WatchDecisionsRequest>(buffer_); });
      buffer_.Clear();
      if (!request) return finish(rpc::to_status(request.error()));
      request_ = std::move(request).value();
      phase_ = Phase::opening;
    }
    calls_->slots.release(this);
    calls_->loop.post([self = self_] { self->open(self); });
  }

  // Delayed while something is being written; a peer that does not read is disconnected.
  void abort(const grpc::Status& why) override {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::finished || ending_) return;
    if (phase_ != Phase::writing) return finish(why);
    ending_ = why;
    queue_.clear();
    calls_->loop.post([self = self_] {
      self->calls_->loop.after(self->calls_->options.unread_grace, [late = std::weak_ptr(self)] {
        if (const auto stream = late.lock()) stream->cut();
      });
    });
  }

  void OnCancel() override {
    abort({grpc::StatusCode::CANCELLED, "cancelled by the caller, or its deadline has passed"});
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::writing) return;
    if (ending_) return finish(*ending_);
    if (!ok) return finish({grpc::StatusCode::CANCELLED, "the reader has disconnected"});
    phase_ = Phase::idle;
    write_next();
    if (phase_ == Phase::idle && listing_) calls_->loop.post([self = self_] { self->list(); });
  }

  void OnDone() override {
    calls_->loop.post([self = self_] {
      if (self->feed() != nullptr) self->feed()->remove(self.get());
    });
    calls_->slots.release(this);
    calls_->remove(this);
    const std::shared_ptr<WatchStream> last = std::move(self_);
  }

  void send(const Event& event) override {
    if (!wanted(*event)) return;
    {
      const std::lock_guard lock(mutex_);
      if (phase_ == Phase::finished || ending_) return;
      if (queue_.size() < calls_->options.max_watch_queue) {
        queue_.push_back(event);
        return write_next();
      }
    }
    abort({grpc::StatusCode::RESOURCE_EXHAUSTED,
           "the reader is more than " + std::to_string(calls_->options.max_watch_queue) +
               " events behind; call again with `initial`"});
  }

 private:
  enum class Phase { admitting, waiting, reading, opening, idle, writing, finished };

  void admit(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::admitting) return;
    if (!status.ok()) return finish(status);
    phase_ = Phase::waiting;
    if (calls_->slots.acquire(self_)) read();
  }

  void read() {  // under mutex_
    phase_ = Phase::reading;
    StartRead(&buffer_);
  }

  DecisionFeed* feed() const { return calls_->options.decisions.get(); }

  bool wanted(const v1::DecisionEvent& event) const {
    return (request_.namespace_().empty() || event.pod().namespace_() == request_.namespace_()) &&
           (request_.node().empty() || event.node() == request_.node());
  }

  // On the loop, once the caller is authorised.
  void open(const std::shared_ptr<WatchStream>& self) {
    for (const auto& [key, value] :
         {std::pair("namespace", &request_.namespace_()), {"node", &request_.node()}}) {
      if (auto ok = check_name(*value, key, true); !ok) return abort(rpc::to_status(ok.error()));
    }
    if (feed() == nullptr)
      return abort(
          {grpc::StatusCode::UNIMPLEMENTED, "WatchDecisions is not available on this server"});
    const auto ready = calls_->placements.placed_pods({}, 0, [](const PlacedPod&) {});
    if (!ready) return abort(rpc::to_status(ready.error()));
    if (feed()->followers() >= calls_->options.max_watchers) {
      return abort({grpc::StatusCode::RESOURCE_EXHAUSTED,
                    std::to_string(feed()->followers()) + " followers already; try again later"});
    }
    {
      const std::lock_guard lock(mutex_);
      if (phase_ != Phase::opening) return;
      phase_ = Phase::idle;
      listing_ = true;
    }
    feed()->add(self);
    list();
  }

  // On the loop, when everything that was queued has been written.
  void list() {
    std::vector<Event> part;
    bool more = false;
    if (request_.initial()) {
      const auto last = calls_->placements.placed_pods(listed_, kPart, [&](const PlacedPod& pod) {
        v1::DecisionEvent event = bound_event(pod);
        if (wanted(event)) part.push_back(std::make_shared<v1::DecisionEvent>(std::move(event)));
      });
      if (!last) return abort(rpc::to_status(last.error()));
      listed_ = *last;
      more = !listed_.empty();
    }
    if (!more) {
      v1::DecisionEvent live;
      live.set_kind(v1::DECISION_KIND_LIVE);
      part.push_back(std::make_shared<v1::DecisionEvent>(std::move(live)));
    }
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::finished || ending_) return;
    listing_ = more;
    queue_.insert(queue_.end(), part.begin(), part.end());
    write_next();
    // The filter dropped this whole page: yield to other tasks before the next one.
    if (phase_ == Phase::idle && listing_) calls_->loop.post([self = self_] { self->list(); });
  }

  void write_next() {  // under mutex_
    if (phase_ != Phase::idle || queue_.empty()) return;
    const Event event = std::move(queue_.front());
    queue_.pop_front();
    buffer_.Clear();
    if (auto written = write_message(*event, buffer_); !written.ok()) return finish(written);
    phase_ = Phase::writing;
    StartWrite(&buffer_);
  }

  void finish(const grpc::Status& status) {  // under mutex_
    phase_ = Phase::finished;
    queue_.clear();
    calls_->count(kWatchDecisions.data(), status);
    Finish(status);
  }

  void cut() {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::writing) context_->TryCancel();
  }

  std::shared_ptr<LiveCalls> calls_;
  grpc::CallbackServerContext* context_;  // lives until the call is finished
  v1::WatchDecisionsRequest request_;
  std::shared_ptr<WatchStream> self_;
  std::string listed_;  // uid of the last decision that was listed; loop thread
  std::mutex mutex_;
  Phase phase_ = Phase::admitting;
  bool listing_ = false;  // decisions are still to be listed
  std::deque<Event> queue_;
  grpc::ByteBuffer buffer_;  // of the message that is being read or written
  std::optional<grpc::Status> ending_;
};

}  // namespace

v1::DecisionEvent bound_event(const PlacedPod& pod) {
  const Placement& p = pod.placement;
  v1::DecisionEvent out = event_of(v1::DECISION_KIND_BOUND, pod.pod, p.uid, p.node);
  out.set_resource(p.resource);
  for (const int chip : p.chips) out.add_chips(chip);
  out.set_gbps(p.gbps);
  out.set_best_gbps(pod.best_gbps);
  out.set_decision(p.decision);
  out.set_time_unix_ms(unix_ms(p.time));
  return out;
}

std::int64_t DecisionFeed::now() const { return unix_ms(clock_.wall()); }

std::shared_ptr<DecisionFeed> make_decision_feed(const Clock& clock) {
  return std::make_shared<DecisionFeed>(clock);
}

Observer& observer_of(DecisionFeed& feed) { return feed; }

void DecisionFeed::publish(v1::DecisionEvent event) {
  const Event shared = std::make_shared<v1::DecisionEvent>(std::move(event));
  for (const std::shared_ptr<Follower>& follower : followers_) follower->send(shared);
}

void DecisionFeed::on(const Observation& seen) {
  if (followers_.empty()) return;
  std::visit(
      ByKind{[this](const PodPlaced& placed) { publish(bound_event(placed.pod)); },
             [this](const PodFreed& freed) { gone(freed.pod); },
             [this](const BindFailed& failure) { bind_failed(failure.binding, failure.error); },
             [](const auto&) {}},
      seen);
}

void DecisionFeed::gone(const PlacedPod& pod) {
  v1::DecisionEvent event = bound_event(pod);
  event.set_kind(v1::DECISION_KIND_GONE);
  event.set_time_unix_ms(now());
  publish(std::move(event));
}

void DecisionFeed::bind_failed(const Binding& binding, const Error& error) {
  v1::DecisionEvent event =
      event_of(v1::DECISION_KIND_FAILED, binding.key, binding.uid, binding.node);
  event.set_time_unix_ms(now());
  event.set_code(to_string(error.code));
  event.set_reason(error.text());
  publish(std::move(event));
}

void DecisionFeed::remove(const Follower* follower) {
  std::erase_if(followers_, [&](const auto& one) { return one.get() == follower; });
}

grpc::ServerGenericBidiReactor* watch_decisions(const std::shared_ptr<LiveCalls>& calls,
                                                grpc::CallbackServerContext* context) {
  const auto stream = std::make_shared<WatchStream>(calls, context);
  stream->begin(stream);
  return stream.get();
}

}  // namespace chipweave::sched
