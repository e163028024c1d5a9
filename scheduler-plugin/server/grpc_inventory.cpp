#include "scheduler-plugin/server/grpc_inventory.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "scheduler-plugin/server/grpc_decode.hpp"

namespace chipweave::sched {

bool NodeOwners::full(const std::string& node) const {
  return owners_.size() >= max_nodes_ && owners_.find(node) == owners_.end();
}

void NodeOwners::take(const std::string& node, std::uint64_t stream, const std::string& boot_id) {
  const auto found = owners_.find(node);
  if (found != owners_.end()) {
    if (const auto old = of_stream_.find(found->second.stream); old != of_stream_.end()) {
      old->second.erase(node);
    }
  }
  owners_[node] = Owner{stream, boot_id};
  of_stream_[stream][node] = boot_id;
}

const NodeOwners::Owner* NodeOwners::find(const std::string& node) const {
  const auto found = owners_.find(node);
  return found == owners_.end() ? nullptr : &found->second;
}

std::map<std::string, std::string> NodeOwners::leave(std::uint64_t stream) {
  const auto found = of_stream_.find(stream);
  if (found == of_stream_.end()) return {};
  std::map<std::string, std::string> nodes = std::move(found->second);
  of_stream_.erase(found);
  for (const auto& [node, boot] : nodes) owners_.erase(node);
  return nodes;
}

namespace {

// One stream. Phases: admitting → reading → deciding (on the loop) → writing → reading …, until
// finished.
// `mutex_` guards the phase and is held over StartRead, StartWrite and Finish, so that nothing is
// started on a call that another thread has just finished (gRPC runs completions on its own
// threads, never inside these calls).
class ReportStream final : public grpc::ServerBidiReactor<v1::InventoryReport, v1::ReportAck>,
                           public LiveCall {
 public:
  ReportStream(std::shared_ptr<LiveCalls> calls, std::shared_ptr<NodeOwners> owners,
               std::uint64_t id)
      : calls_(std::move(calls)), owners_(std::move(owners)), id_(id) {}

  void begin(const std::shared_ptr<ReportStream>& self,
             const grpc::CallbackServerContext& context) {
    self_ = self;
    caller_ = caller_of(context, "Report", GrpcAccess::report);
    grpc::Status refused = calls_->look_at(context, caller_);
    if (refused.ok()) refused = calls_->add(self, LiveCalls::Kind::stream);
    if (!refused.ok()) return abort(refused);
    if (!calls_->options.check_token) return admit(grpc::Status::OK);
    GrpcCaller shown = caller_;
    caller_.token.clear();
    calls_->loop.post([self, shown = std::move(shown)] {
      self->calls_->let_in(self, LiveCalls::Kind::stream, shown,
                           [self](const grpc::Status& status) { self->admit(status); });
    });
  }

  void OnReadDone(bool ok) override {
    {
      const std::lock_guard lock(mutex_);
      if (phase_ != Phase::reading) return;
      // the agent has closed its side, or sent an invalid message
      if (!ok) return finish(grpc::Status::OK);
      phase_ = Phase::deciding;
    }
    // Decoded here, on gRPC's thread; report_ and decoded_ are the loop's until the next StartRead.
    decoded_.emplace(decode(report_));
    calls_->loop.post([self = self_] { self->decide(); });
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::writing) return;
    if (!ok) return finish(grpc::Status::OK);
    if (ending_) return finish(*ending_);
    phase_ = Phase::reading;
    StartRead(&report_);
  }

  // A cancelled call fails its read or write, which finishes it; the result of a pending decision
  // is dropped.
  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::admitting)
      finish({grpc::StatusCode::CANCELLED, "cancelled by the caller"});
  }

  void OnDone() override {
    calls_->loop.post([calls = calls_, owners = owners_, id = id_] {
      if (calls->closing()) return;
      for (const auto& [node, boot] : owners->leave(id)) calls->inventory->agent_gone(node, boot);
    });
    calls_->remove(this);
    const std::shared_ptr<ReportStream> last = std::move(self_);
  }

  void abort(const grpc::Status& why) override {
    const std::lock_guard lock(mutex_);
    // While writing, OnWriteDone finishes; a peer that does not read is disconnected by the
    // server's shutdown.
    if (phase_ == Phase::writing) {
      ending_ = why;
    } else if (phase_ != Phase::finished) {
      finish(why);
    }
  }

 private:
  enum class Phase { admitting, reading, deciding, writing, finished };

  void admit(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::admitting) return;
    if (!status.ok()) return finish(status);
    phase_ = Phase::reading;
    StartRead(&report_);
  }
  static Result<InventoryReport> decode(const v1::InventoryReport& report) {
    if (report.body_case() != v1::InventoryReport::kHeartbeat) return decode_report(report);
    if (auto ok = check_sender(report); !ok) return std::move(ok).error();
    InventoryReport sign_of_life;
    sign_of_life.node = report.node();
    sign_of_life.boot_id = report.boot_id();
    return sign_of_life;
  }

  void finish(const grpc::Status& status) {  // under mutex_
    phase_ = Phase::finished;
    calls_->count("Report", status);
    Finish(status);
  }

  // On the loop. Reports of an aborted stream are dropped.
  void decide() {
    {
      const std::lock_guard lock(mutex_);
      if (phase_ != Phase::deciding) return;
    }
    ack_.Clear();
    if (check_sender(report_)) {  // an unusable name is not sent back
      ack_.set_node(report_.node());
      ack_.set_sequence(report_.sequence());
    }
    grpc::Status status;
    try {
      status = answer();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (phase_ == Phase::deciding)
        finish({grpc::StatusCode::INTERNAL, "internal error; see the scheduler's log"});
      throw;  // the state may be half changed: Loop::on_escape() decides
    }
    // Frees the message's memory while the stream is idle; Clear() would keep it.
    v1::InventoryReport().Swap(&report_);
    decoded_.reset();
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::deciding) return;
    if (!status.ok()) return finish(status);
    phase_ = Phase::writing;
    StartWrite(&ack_);
  }

  void refuse(std::string why) {
    ack_.set_outcome(v1::OUTCOME_REFUSED);
    ack_.set_message(std::move(why));
  }

  // Fills ack_; a status that is not OK ends the stream.
  grpc::Status answer() {
    if (!decoded_->ok()) {
      refuse(decoded_->error().text());
      return grpc::Status::OK;
    }
    InventoryReport& report = decoded_->value();
    if (grpc::Status owned = check_node(caller_, report.node); !owned.ok()) {
      calls_->refused(caller_, {}, owned);
      return owned;
    }
    if (report_.body_case() == v1::InventoryReport::kFull) return answer_full(std::move(report));
    const NodeOwners::Owner* owner = owners_->find(report.node);
    if (owner == nullptr || (owner->stream == id_ && owner->boot_id != report.boot_id)) {
      ack_.set_outcome(v1::OUTCOME_NEEDS_FULL);
      ack_.set_message("this stream has not sent a full report for the node's boot id");
    } else if (owner->stream != id_) {
      ack_.set_outcome(v1::OUTCOME_OLDER);
      ack_.set_message("another stream reports this node");
    } else if (report_.body_case() == v1::InventoryReport::kHeartbeat) {
      calls_->inventory->heartbeat(report.node, report.boot_id);
      ack_.set_outcome(v1::OUTCOME_TAKEN);
    } else {
      acknowledge(calls_->inventory->report(std::move(report)));
    }
    return grpc::Status::OK;
  }

  grpc::Status answer_full(InventoryReport report) {
    const std::string node = report.node;
    const std::string boot_id = report.boot_id;
    if (owners_->full(node)) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              "more than " + std::to_string(calls_->options.max_nodes) + " nodes are reported"};
    }
    const ReportAnswer answer = calls_->inventory->report(std::move(report));
    if (answer == ReportOutcome::taken) owners_->take(node, id_, boot_id);
    if (answer == ReportOutcome::no_room) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, answer.problem};
    }
    acknowledge(answer);
    return grpc::Status::OK;
  }

  void acknowledge(const ReportAnswer& answer) {
    ack_.set_outcome(to_proto(answer.outcome));
    ack_.set_message(answer.problem);
  }

  std::shared_ptr<LiveCalls> calls_;
  std::shared_ptr<NodeOwners> owners_;
  const std::uint64_t id_;
  GrpcCaller caller_{"Report", GrpcAccess::report};
  std::shared_ptr<ReportStream> self_;
  std::mutex mutex_;
  Phase phase_ = Phase::admitting;
  std::optional<grpc::Status> ending_;
  v1::InventoryReport report_;
  v1::ReportAck ack_;
  std::optional<Result<InventoryReport>> decoded_;
};

}  // namespace

InventoryService::InventoryService(std::shared_ptr<LiveCalls> calls)
    : calls_(std::move(calls)), owners_(std::make_shared<NodeOwners>(calls_->options.max_nodes)) {}

grpc::ServerBidiReactor<v1::InventoryReport, v1::ReportAck>* InventoryService::Report(
    grpc::CallbackServerContext* context) {
  const auto stream = std::make_shared<ReportStream>(calls_, owners_, ++streams_);
  stream->begin(stream, *context);
  return stream.get();
}

}  // namespace chipweave::sched
