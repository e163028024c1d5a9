#include "scheduler-plugin/kube/leader_election.hpp"

#include <array>
#include <cstdio>
#include <random>
#include <utility>

#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::milliseconds kStopTimeout{500};
constexpr std::chrono::seconds kFailureLogInterval{60};

// Unique per process, so that no process takes a Lease for its own that an earlier or equally named
// one holds.
LeaderElection::Options with_own_identity(LeaderElection::Options options) {
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "_%08x",
                static_cast<unsigned>(std::random_device{}()));
  options.lease.identity += number.data();
  return options;
}

// Without the suffix.
std::string replica_of(const std::string& identity) {
  return identity.substr(0, identity.rfind('_'));
}

}  // namespace

LeaderElection::LeaderElection(std::unique_ptr<kube::Transport> transport, const Clock& clock,
                               Options options, Events events, std::function<double()> jitter)
    : clock_(clock),
      transport_(std::move(transport)),
      options_(with_own_identity(std::move(options))),
      events_(std::move(events)),
      label_(*transport_, {options_.lease.ns, options_.pod},
             [this](const std::string& what) { failed(what); }),
      elector_(*transport_, clock, options_.lease,
               {events_.may_lead, [this](const std::string& former) { began(former); },
                [this] { ended(); }, [this](const std::string& what) { failed(what); }},
               std::move(jitter)) {}

void LeaderElection::start() {
  label_.set(false);  // an earlier process of this pod may have left it
  elector_.start();
}

void LeaderElection::tick() {
  elector_.check();
  if (elector_.holds() || elector_.holder() == last_holder_) return;
  last_holder_ = elector_.holder();
  obs::log(
      obs::Level::info, "on standby",
      {{"leader", last_holder_.empty() ? "none" : last_holder_}, {"lease", options_.lease.name}});
}

void LeaderElection::began(const std::string& former) {
  last_holder_.clear();
  obs::log(obs::Level::info, "leading",
           {{"lease", options_.lease.name},
            {"identity", options_.lease.identity},
            {"term", elector_.term()},
            {"former", former.empty() ? "none" : former}});
  label_.set(true);
  label_.take_off(replica_of(former));
  events_.began();
}

void LeaderElection::ended() {
  obs::log(obs::Level::warn, "no longer leading",
           {{"lease", options_.lease.name}, {"why", elector_.standby()}});
  label_.set(false);
  events_.ended();
}

void LeaderElection::failed(const std::string& what) {
  ++failures_;
  const Clock::Steady now = clock_.now();
  if (what == last_failure_ && now - failure_logged_ < kFailureLogInterval) return;
  last_failure_ = what;
  failure_logged_ = now;
  obs::log(obs::Level::warn, "leader election failed", {{"problem", what}});
}

std::string LeaderElection::not_ready() const {
  if (elector_.holds() || label_.settled()) return {};
  return "standby: the label " + std::string(kLeaderLabel) + " is not off pod " + options_.pod +
         " yet";
}

void LeaderElection::stop(bool give_back, std::function<void()> done) {
  const auto left = std::make_shared<int>(2);
  const auto over = std::make_shared<std::function<void()>>(std::move(done));
  const auto one_done = [left, over] {
    if (--*left > 0) return;
    const auto call = std::exchange(*over, nullptr);
    if (call) call();
  };
  limit_ = transport_->after(kStopTimeout, [left, one_done] {
    *left = 1;
    one_done();
  });
  elector_.stop(give_back, one_done);
  label_.stop(one_done);
}

}  // namespace chipweave::sched
