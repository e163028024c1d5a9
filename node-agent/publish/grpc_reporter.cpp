#include "node-agent/publish/grpc_reporter.hpp"

#include <future>
#include <optional>
#include <utility>

#include <grpcpp/client_context.h>

#include "chipweave/v1/inventory.grpc.pb.h"
#include "common/base/backoff.hpp"
#include "common/http/mailbox.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/carried_proto.hpp"
#include "common/rpc/channel.hpp"
#include "common/rpc/fault_proto.hpp"
#include "common/rpc/topology_proto.hpp"

namespace chipweave::agent {
namespace {

v1::InventoryReport to_message(const Outgoing& out, const GrpcReporterOptions& options) {
  v1::InventoryReport m;
  m.set_node(options.node);
  m.set_boot_id(options.boot_id);
  m.set_sequence(out.sequence);
  switch (out.kind) {
    case ReportKind::full: {
      v1::FullReport& full = *m.mutable_full();
      full.set_machine(out.state->machine);
      for (const std::string& resource : out.state->resources) full.add_resources(resource);
      *full.mutable_topology() = rpc::to_proto(out.state->topology);
      *full.mutable_faults() = rpc::to_proto(out.state->faults);
      if (!out.state->carried.empty()) *full.mutable_carried() = rpc::to_proto(out.state->carried);
      break;
    }
    case ReportKind::delta: {
      v1::DeltaReport& delta = *m.mutable_delta();
      for (const ChipChange& c : out.delta.chips) {
        v1::ChipHealthChange& change = *delta.add_chips();
        change.set_chip(c.chip.value);
        change.set_health(rpc::to_proto(c.health));
      }
      for (const LinkChange& l : out.delta.links) {
        v1::LinkLanesChange& change = *delta.add_links();
        change.set_a(l.a.value);
        change.set_b(l.b.value);
        change.set_lanes_down(l.lanes_down);
      }
      if (out.delta.faults) *delta.mutable_faults() = rpc::to_proto(*out.delta.faults);
      if (out.delta.carried) *delta.mutable_carried() = rpc::to_proto(*out.delta.carried);
      break;
    }
    case ReportKind::heartbeat:
      m.mutable_heartbeat();
      break;
  }
  return m;
}

Answer to_answer(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_TAKEN:
      return Answer::accepted;
    case v1::OUTCOME_OLDER:
      return Answer::older;
    case v1::OUTCOME_NEEDS_FULL:
      return Answer::needs_full;
    default:
      return Answer::refused;  // REFUSED, and values that only newer schedulers know
  }
}

// Gets the events of a stream, on the loop.
class StreamOwner {
 public:
  StreamOwner() = default;
  StreamOwner(const StreamOwner&) = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;
  virtual ~StreamOwner() = default;
  virtual void on_ack(const v1::ReportAck& ack) = 0;
  virtual void on_written() = 0;
  virtual void on_end(const grpc::Status& status) = 0;
};

using Mailbox = http::Mailbox<StreamOwner>;

// One attempt: a call and its end. A hold delays OnDone until the loop has released it, so that the
// loop never writes to a call that is over. Its owner keeps it until on_end: it holds a channel,
// and the last channel of a process joins gRPC's callback threads when it is destroyed, so that
// must not happen on one of them.
class Stream final : public grpc::ClientBidiReactor<v1::InventoryReport, v1::ReportAck>,
                     public std::enable_shared_from_this<Stream> {
 public:
  static std::shared_ptr<Stream> start(const std::shared_ptr<grpc::Channel>& channel,
                                       std::shared_ptr<Mailbox> box) {
    auto stream = std::make_shared<Stream>(channel, std::move(box));
    stream->stub_->async()->Report(&stream->context_, stream.get());
    stream->AddHold();
    stream->StartRead(&stream->ack_);
    stream->StartCall();
    return stream;
  }
  Stream(const std::shared_ptr<grpc::Channel>& channel, std::shared_ptr<Mailbox> box)
      : box_(std::move(box)), stub_(v1::Inventory::NewStub(channel)) {}

  // Loop thread. False once it was released: nothing may be written any more, on_end follows.
  bool open() const { return held_; }
  // Loop thread; one write at a time, while open().
  void write(v1::InventoryReport report) {
    report_ = std::move(report);
    StartWrite(&report_);
  }
  // Loop thread; on_end follows. A call that is over already keeps its status.
  void let_go() {
    if (!held_) return;
    held_ = false;
    RemoveHold();
  }
  void cancel() {
    if (held_) context_.TryCancel();
    let_go();
  }
  // After cancel(): until gRPC has done with this object. Any thread but gRPC's.
  void wait_for_end() { ended_->get_future().wait(); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      box_->post([stream = shared_from_this()](StreamOwner&) { stream->let_go(); });
      return;
    }
    box_->post([stream = shared_from_this()](StreamOwner& owner) {
      owner.on_ack(stream->ack_);
      if (stream->held_) stream->StartRead(&stream->ack_);
    });
  }
  void OnWriteDone(bool ok) override {
    if (ok) box_->post([](StreamOwner& owner) { owner.on_written(); });
  }
  void OnDone(const grpc::Status& status) override {
    // The owner may delete this object before post() returns.
    const std::shared_ptr<Mailbox> box = box_;
    const std::shared_ptr<std::promise<void>> ended = ended_;
    box->post([status](StreamOwner& owner) { owner.on_end(status); });
    ended->set_value();
  }

 private:
  std::shared_ptr<Mailbox> box_;
  std::unique_ptr<v1::Inventory::Stub> stub_;
  grpc::ClientContext context_;
  std::shared_ptr<std::promise<void>> ended_ = std::make_shared<std::promise<void>>();
  bool held_ = true;
  v1::ReportAck ack_;
  v1::InventoryReport report_;
};

}  // namespace

struct GrpcReporter::Impl final : StreamOwner, std::enable_shared_from_this<Impl> {
  Impl(http::Loop& l, GrpcReporterOptions o, ReporterEvents e, std::function<void(Answer)> a)
      : loop(l),
        options(std::move(o)),
        events(std::move(e)),
        answered(std::move(a)),
        backoff({options.backoff_min, options.backoff_max}, Backoff::seeded(options.seed)),
        box(std::make_shared<Mailbox>(loop, *this)) {}

  void connect() {
    if (stopping || stream != nullptr) return;
    const auto endpoint = parse_endpoint(options.scheduler, PortZero::refused);
    if (!endpoint) {
      obs::log(obs::Level::error, "cannot use the scheduler's address",
               {{"error", endpoint.error().text()}});
      return;
    }
    std::optional<ClientPem> tls;
    if (options.tls) {
      auto pem = options.tls();
      if (!pem) return failed(pem.error().text());
      tls = std::move(*pem);
    }
    channel = rpc::make_channel(*endpoint, tls);
    stream = Stream::start(channel, box);
    writing = false;
    unacknowledged_heartbeats = 0;
    plan.opened();
    pump();
  }

  // Writes what is due. One write is in flight at a time, because the plan waits for each ack.
  void pump() {
    if (stream == nullptr || !stream->open() || writing || stopping) return;
    const auto out = plan.next();
    if (!out) return;
    writing = true;
    writing_kind = out->kind;
    stream->write(to_message(*out, options));
  }

  void beat() {
    if (stream == nullptr) return;
    // A scheduler that accepts connections but answers nothing for two heartbeats: reconnect.
    if (plan.waits_for_ack() && ++unacknowledged_heartbeats >= 2) {
      stream->cancel();
      return;
    }
    plan.heartbeat_due();
    pump();
  }

  void on_ack(const v1::ReportAck& ack) override {
    unacknowledged_heartbeats = 0;
    if (!connected) {
      connected = true;
      warned = false;
      backoff.reset();
      obs::log(obs::Level::info, "connected",
               {{"scheduler", options.scheduler}, {"node", options.node}});
      if (events.connected) events.connected(true);
    }
    const Answer answer = to_answer(ack.outcome());
    if (answer == Answer::refused || answer == Answer::older) {
      obs::log(obs::Level::warn, answer == Answer::older ? "report is older" : "report refused",
               {{"node", options.node},
                {"sequence", static_cast<unsigned long>(ack.sequence())},
                {"reason", ack.message()}});
    }
    if (!plan.acked(answer)) return;
    if (answered) answered(answer);
    pump();
  }

  void on_written() override {
    writing = false;
    if (events.sent) events.sent(writing_kind);
    pump();
  }

  void on_end(const grpc::Status& status) override {
    stream = nullptr;
    plan.closed();
    if (connected && events.connected) events.connected(false);
    if (stopping) {
      connected = false;
      if (done) std::exchange(done, nullptr)();
      return;
    }
    failed(status.error_message());
  }

  void failed(const std::string& why) {
    if (!warned) {
      // Once per outage, not once per attempt.
      obs::log(obs::Level::warn, connected ? "connection lost" : "cannot reach the scheduler",
               {{"scheduler", options.scheduler}, {"error", why}});
      warned = true;
    }
    connected = false;
    loop.after(backoff.next(), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->connect();
    });
  }

  http::Loop& loop;
  GrpcReporterOptions options;
  ReporterEvents events;
  std::function<void(Answer)> answered;
  ReportPlan plan;
  Backoff backoff;
  std::shared_ptr<Mailbox> box;
  // Of this attempt or the last one: gRPC starts its threads with the first channel of a process
  // and joins them with the last, which is too expensive for every attempt.
  std::shared_ptr<grpc::Channel> channel;
  std::shared_ptr<Stream> stream;
  bool writing = false;
  ReportKind writing_kind = ReportKind::heartbeat;
  bool connected = false;
  bool warned = false;
  bool stopping = false;
  int unacknowledged_heartbeats = 0;
  std::function<void()> done;
};

GrpcReporter::GrpcReporter(http::Loop& loop, GrpcReporterOptions options, ReporterEvents events,
                           std::function<void(Answer)> answered)
    : impl_(std::make_shared<Impl>(loop, std::move(options), std::move(events),
                                   std::move(answered))) {}

GrpcReporter::~GrpcReporter() {
  impl_->box->cut();
  if (impl_->stream != nullptr) {
    impl_->stream->cancel();
    impl_->stream->wait_for_end();
  }
}

// Deltas are small, and one is in flight at a time: nothing needs to wait.
void GrpcReporter::want(NodeStatePtr state, bool /*urgent*/) {
  impl_->plan.want(std::move(state));
  impl_->pump();
}

void GrpcReporter::start() {
  impl_->loop.every(impl_->options.heartbeat, [weak = impl_->weak_from_this()] {
    if (const auto self = weak.lock()) self->beat();
  });
  impl_->connect();
}

void GrpcReporter::stop(std::function<void()> done) {
  impl_->stopping = true;
  if (impl_->stream == nullptr) {
    impl_->loop.post(std::move(done));
    return;
  }
  impl_->done = std::move(done);
  impl_->stream->cancel();
}

}  // namespace chipweave::agent
