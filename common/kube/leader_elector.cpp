#include "common/kube/leader_elector.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/objects/lease.hpp"

namespace chipweave::kube {
namespace {

constexpr int kMaxSurprises = 2;
constexpr int kMaxReturns = 3;
constexpr std::chrono::milliseconds kBetweenReturns{20};
constexpr std::chrono::milliseconds kMaxPause{10'000};  // whatever the server asks for

// Jitter, so that several waiting processes do not send at once. by: 0 to 1.
std::chrono::milliseconds spread(std::chrono::milliseconds period, double by) {
  constexpr double kMax = 0.2;
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(static_cast<double>(period.count()) * (1 + kMax * by)));
}

}  // namespace

LeaderElector::LeaderElector(Transport& transport, const Clock& clock, Options options,
                             Events events, std::function<double()> jitter)
    : transport_(transport),
      clock_(clock),
      options_(std::move(options)),
      events_(std::move(events)),
      jitter_(std::move(jitter)) {}

void LeaderElector::start() { look(); }

bool LeaderElector::holds() const {
  return leading_ && !stopping_ && transport_.now() < renewed_ + options_.renew_deadline;
}

std::string LeaderElector::holder() const {
  return seen_ ? with_dots(seen_->lease.holder, limits::kMaxNameBytes) : std::string();
}

std::string LeaderElector::standby() const {
  if (holds()) return {};
  if (stopping_) return "standby: this replica is shutting down";
  if (!seen_) return "standby: leader unknown";
  if (seen_->lease.holder.empty()) return "standby: no leader";
  if (seen_->lease.holder == options_.identity)
    return "standby: the Lease " + options_.name + " could not be renewed in time";
  return "standby: the leader is " + holder();
}

void LeaderElector::check() {
  if (leading_ && !holds()) end_term();
}

void LeaderElector::end_term() {
  leading_ = false;
  events_.ended();
}

void LeaderElector::send(Call call, void (LeaderElector::*then)(Result<Reply>)) {
  // At least two attempts before the deadline.
  call.deadline = std::max(Milliseconds(1), options_.renew_deadline / 2);
  ticket_ = transport_.call(std::move(call),
                            [this, then](Result<Reply> reply) { (this->*then)(std::move(reply)); });
}

void LeaderElector::look() {
  send(call_of("GET", codec::lease_path(options_.ns) + "/" + options_.name, ""),
       &LeaderElector::looked);
}

void LeaderElector::looked(Result<Reply> reply) {
  check();
  if (!reply || (reply->status != 200 && reply->status != kNotFound))
    return trouble("cannot be read", reply);
  if (reply->status == kNotFound) {
    if (seen_) observe(seen_->lease, true);
    return decide();
  }
  auto lease = reader_.read_one(reply->body);
  if (!lease) return trouble("is not understood: " + lease.error().text(), reply);
  observe(std::move(*lease), false);
  if (leading_ && !ours()) end_term();
  decide();
}

void LeaderElector::observe(codec::KubeLease lease, bool gone) {
  const Steady now = transport_.now();
  const bool same = seen_ && seen_->gone == gone && seen_->lease.uid == lease.uid &&
                    seen_->lease.resource_version == lease.resource_version;
  // Time without a successful read does not count: the server may just have come back, with
  // requests of the holder still in its queue.
  const Milliseconds regular = options_.renew_deadline + spread(options_.retry_period, 1);
  const bool watched = same && now - seen_->last <= regular;
  seen_ = Seen{std::move(lease), gone, watched ? seen_->since : now, now};
}

std::chrono::milliseconds LeaderElector::taken_for() const {
  if (!seen_ || holds()) return Milliseconds(0);
  // A request to make a new one that arrives late may bring back a name that is long out of date.
  const bool known = seen_->lease.uid == granted_;
  if (!seen_->gone && (seen_->lease.holder.empty() || (ours() && known))) return Milliseconds(0);
  const std::int64_t longest = std::chrono::duration_cast<std::chrono::seconds>(kMaxLease).count();
  const Milliseconds stated =
      std::chrono::seconds(std::clamp<std::int64_t>(seen_->lease.duration_seconds, 0, longest));
  const Steady until = seen_->since + std::max(stated, options_.lease_duration);
  return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(until - transport_.now()));
}

void LeaderElector::decide() {
  if (stopping_) return ours() && !seen_->gone ? put() : stopped();
  const Milliseconds left = taken_for();
  if (left > Milliseconds(0)) return wait(std::min(left, period()), &LeaderElector::look);
  if (!leading_ && !events_.may_lead()) return wait(period(), &LeaderElector::look);
  put();
}

void LeaderElector::put() {
  codec::LeaderLease lease;
  lease.ns = options_.ns;
  lease.name = options_.name;
  lease.renewed = clock_.wall();
  const bool create = !seen_ || seen_->gone;
  if (!ours() || acquired_ == Clock::Wall{}) acquired_ = lease.renewed;
  lease.acquired = acquired_;
  if (!create) lease.resource_version = seen_->lease.resource_version;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (seen_) lease.transitions = std::clamp<std::int64_t>(seen_->lease.transitions, 0, kMax - 1);
  if (seen_ && !ours()) ++lease.transitions;
  if (!stopping_) {
    lease.holder = options_.identity;
    lease.duration = std::chrono::ceil<std::chrono::seconds>(options_.lease_duration);
  }
  sent_ = transport_.now();
  send(call_of(create ? "POST" : "PUT",
               codec::lease_path(options_.ns) + (create ? "" : "/" + options_.name),
               codec::write_lease(lease)),
       &LeaderElector::answered);
}

void LeaderElector::answered(Result<Reply> reply) {
  check();
  if (reply && (reply->status == kConflict || reply->status == kNotFound)) return look_again();
  if (!reply || (reply->status != 200 && reply->status != 201))
    return trouble("cannot be written", reply);
  if (stopping_) return stopped();
  auto lease = reader_.read_one(reply->body);
  if (!lease || lease->holder != options_.identity) return look_again();
  const std::string former = ours() ? std::string() : holder();
  granted_ = lease->uid;
  observe(std::move(*lease), false);
  if (sent_ + options_.renew_deadline <= transport_.now()) return look_again();  // too late
  surprises_ = 0;
  renewed_ = sent_;
  wait(period(), &LeaderElector::renew);
  if (std::exchange(leading_, true)) return;
  ++term_;
  events_.began(former);
}

void LeaderElector::renew() { leading_ ? put() : look(); }

// The Lease has changed since it was read. The second conflict in a row waits before reading again.
void LeaderElector::look_again() {
  if (seen_) seen_->since = transport_.now();
  if (++surprises_ < kMaxSurprises) return look();
  surprises_ = 0;
  wait(period(), &LeaderElector::look);
}

void LeaderElector::trouble(const std::string& what, const Result<Reply>& reply) {
  std::string why = "the Lease " + options_.ns + "/" + options_.name + " " + what;
  if (!reply) why += ": " + reply.error().text();
  if (reply && reply->status != 200) {
    std::string body = reply->body;
    why += ": HTTP " + std::to_string(reply->status) + " " + codec::read_status(body).message;
  }
  // A leader must not delay its renewals.
  Milliseconds delay = leading_ ? options_.retry_period / 4 : period();
  if (!leading_ && reply && reply->retry_after)
    delay = std::clamp<Milliseconds>(*reply->retry_after, delay, kMaxPause);
  wait(delay, &LeaderElector::look);
  events_.failed(why);
}

std::chrono::milliseconds LeaderElector::period() const {
  return spread(options_.retry_period, jitter_());
}

void LeaderElector::wait(Milliseconds delay, void (LeaderElector::*then)()) {
  if (stopping_) {
    if (++returns_ >= kMaxReturns) return stopped();
    delay = kBetweenReturns;
  }
  ticket_ = transport_.after(std::max(Milliseconds(1), delay), [this, then] {
    check();
    (this->*then)();
  });
}

void LeaderElector::stop(bool give_back, std::function<void()> done) {
  const bool held = holds();
  stopping_ = true;
  when_stopped_ = std::move(done);
  if (leading_) end_term();
  if (give_back && held) return look();
  ticket_ = transport_.after(Milliseconds(0), [this] { stopped(); });
}

void LeaderElector::stopped() {
  ticket_.reset();
  const auto done = std::exchange(when_stopped_, nullptr);
  if (done) done();
}

}  // namespace chipweave::kube
