#include "node-agent/app/agent.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "node-agent/app/continuity.hpp"
#include "node-agent/app/delta.hpp"
#include "node-agent/app/health/conditions.hpp"
#include "node-agent/app/health/fault_effects.hpp"
#include "node-agent/app/identity.hpp"

namespace chipweave::agent {
namespace {

using domain::Effect;
using domain::Fault;

constexpr std::size_t kMaxEarly = 4096;           // events before the first observation
constexpr std::chrono::seconds kWorkingFor{10};   // without trouble, until it counts as over
constexpr std::chrono::seconds kStartWithin{30};  // the driver; then the bus view is reported

// Why the observation is not the driver's.
std::string driver_problem(const domain::Observation& bus) {
  for (const domain::Signal& signal : bus.signals) {
    if (signal.code.starts_with("driver.")) return signal.text;
  }
  return "the driver does not respond";
}

const Fault* find(const std::vector<Fault>& in, const Fault& what) {
  const auto at = std::find_if(in.begin(), in.end(),
                               [&](const Fault& one) { return domain::same_cause(one, what); });
  return at == in.end() ? nullptr : &*at;
}

// Whether something is worse in `now` than it was.
bool is_worse(const NodeState& before, const NodeState& now) {
  if (!delta_between(before, now)) return true;  // another machine
  return std::any_of(now.faults.begin(), now.faults.end(), [&](const Fault& fault) {
    if (fault.effect == Effect::note) return false;
    const Fault* was = find(before.faults, fault);
    return was == nullptr || was->effect < fault.effect || was->lanes < fault.lanes;
  });
}

bool same(const NodeState& a, const NodeState& b) {
  const auto delta = delta_between(a, b);
  const auto same_neighbour = [](const domain::Neighbour& x, const domain::Neighbour& y) {
    return x.nic == y.nic && x.chip == y.chip && x.system == y.system && x.port == y.port &&
           x.address == y.address;
  };
  return delta && delta->empty() && a.facts == b.facts &&
         std::equal(a.neighbours.begin(), a.neighbours.end(), b.neighbours.begin(),
                    b.neighbours.end(), same_neighbour);
}

}  // namespace

const char* to_string(FaultChange::Kind kind) {
  switch (kind) {
    case FaultChange::Kind::raised:
      return "raised";
    case FaultChange::Kind::changed:
      return "changed";
    case FaultChange::Kind::cleared:
      break;
  }
  return "cleared";
}

Agent::Agent(AgentOptions options, const Clock& clock, MachineSource& machine, FaultSource* faults,
             AgentEvents events)
    : options_(std::move(options)),
      clock_(clock),
      machine_(machine),
      fault_source_(faults),
      events_(std::move(events)),
      judge_(options_.policy, clock),
      began_(clock.now()),
      good_(clock.now()) {}

Result<void> Agent::start() {
  if (fault_source_ != nullptr) {
    if (auto listed = fault_source_->changes()) {
      if (!listed->ok()) return std::move(*listed).error();
      listed_ = std::move(*listed).value();
      listed_at_ = now_ms();
    }
  }
  if (options_.hardware) {
    check();
    return {};
  }
  auto found = machine_.update().reading;
  if (!found) return make_error(Errc::internal, "the machine was not read");
  if (!*found) return std::move(*found).error();
  if (take(std::move(*found).value())) judge_.observe(*seen_);
  auto faults = faults_now(*seen_);
  if (!faults) return std::move(faults).error();
  auto state = composed(*seen_, std::move(faults).value());
  if (!state) return std::move(state).error();
  new_ = false;
  good_ = clock_.now();
  emit(std::move(state).value());
  return {};
}

void Agent::check() {
  read_machine();
  read_fault_source();
  compose();
  if (!machine_failing_ && !faults_failing_ && !trouble_ && misfit_.empty() && state_ != nullptr) {
    good_ = machine_.confirmed_at().value_or(clock_.now());
  }
}

void Agent::read_machine() {
  MachineUpdate update = machine_.update();
  const bool judges = update.reading && take_reading(*std::move(update.reading));
  // Events first: a reset ends what was before it, not what the reading shows.
  take_events(std::move(update.events));
  if (judges) judge_.observe(*seen_);
  if (update.metrics) take_metrics(*std::move(update.metrics));
  auto trouble = machine_.trouble();
  judge_trouble(trouble ? std::move(trouble) : failure_);
  take_bus_view();
}

bool Agent::take_reading(Result<domain::Observation> reading) {
  const bool from_driver = seen_ && seen_->basis == domain::Basis::driver;
  if (reading && reading->basis == domain::Basis::starting) {
    if (!seen_) bus_view_ = std::move(reading).value();
    return false;
  }
  failure_.reset();
  if (reading && reading->basis == domain::Basis::bus && from_driver) {
    // Less than what is known: the driver worked before.
    reading = make_error(Errc::unavailable, driver_problem(*reading));
  }
  machine_failing_ = !reading.ok();
  if (reading) return take(std::move(reading).value());
  fail(reading.error());
  // The machine was there before.
  const bool none = reading.error().code == Errc::not_found;
  failure_ = ProbeTrouble{none ? "machine.gone" : "probe.failing", reading.error().text()};
  return false;
}

// A driver that hangs or crashes from the start leaves only what the bus shows.
void Agent::take_bus_view() {
  if (!bus_view_ || seen_) return bus_view_.reset();
  if (!trouble_ && clock_.now() - began_ < kStartWithin) return;
  if (take(*std::exchange(bus_view_, std::nullopt))) judge_.observe(*seen_);
}

// A probe process that crashes again and again works for moments in between; so the time without
// the hardware goes on until it has worked for a while.
void Agent::judge_trouble(std::optional<ProbeTrouble> trouble) {
  if (trouble) {
    if (!blind_since_) blind_since_ = clock_.now();
    working_since_.reset();
    judge_.trouble(HealthJudge::Trouble{trouble->code, trouble->text, *blind_since_});
  } else {
    if (!working_since_) working_since_ = clock_.now();
    if (clock_.now() - *working_since_ >= kWorkingFor) blind_since_.reset();
    judge_.trouble(std::nullopt);
  }
  const bool known =
      trouble.has_value() == trouble_.has_value() && (!trouble || trouble->code == trouble_->code);
  if (!known && trouble) {
    if (!failure_) ++errors_;  // fail() has counted that one
    // With a state it is a fault, which is reported as such.
    if (state_ == nullptr && !failure_) events_.warning(trouble->code + ": " + trouble->text);
  }
  trouble_ = std::move(trouble);
}

bool Agent::take(domain::Observation seen) {
  warn_of(seen.warnings);
  // The driver's first observation replaces the bus's, which has no links to be continued.
  const bool continues =
      seen_ && (seen_->basis == seen.basis || seen.basis != domain::Basis::driver);
  ChipNumbers numbers;
  if (options_.hardware && continues) {
    auto same_terms = in_terms_of(seen_->topology, std::move(seen));
    if (!same_terms) {
      machine_failing_ = true;
      fail(same_terms.error());
      return false;
    }
    seen = std::move(same_terms->observation);
    numbers = std::move(same_terms->numbers);
  }
  numbers_ = std::move(numbers);
  seen_ = std::move(seen);
  new_ = true;
  return true;
}

void Agent::take_events(std::vector<domain::Signal> events) {
  if (!seen_) {
    std::move(events.begin(), events.end(), std::back_inserter(early_));
    if (early_.size() > kMaxEarly) {
      early_.erase(early_.begin(), early_.end() - static_cast<std::ptrdiff_t>(kMaxEarly));
    }
    return;
  }
  if (!early_.empty()) {
    events.insert(events.begin(), std::make_move_iterator(early_.begin()),
                  std::make_move_iterator(early_.end()));
    early_.clear();
  }
  if (events.empty()) return;
  if (options_.hardware) name_chips(seen_->topology, numbers_, events);
  judge_.occurred(events);
  if (!events_.event) return;
  for (const domain::Signal& event : events) events_.event(event);
}

void Agent::take_metrics(domain::MetricsSample sample) {
  if (!seen_ || !events_.metrics) return;
  for (domain::ChipMetrics& chip : sample.chips) {
    const auto own = numbers_.find(chip.chip);
    if (own != numbers_.end()) chip.chip = own->second;
  }
  std::erase_if(sample.chips, [this](const domain::ChipMetrics& chip) {
    return !seen_->topology.slot_of(chip.chip);
  });
  events_.metrics(sample);
}

// Logs warnings that the previous observation did not have.
void Agent::warn_of(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (std::find(warned_.begin(), warned_.end(), warning) == warned_.end()) {
      events_.warning(warning);
    }
  }
  warned_ = warnings;
}

void Agent::read_fault_source() {
  auto listed = fault_source_ == nullptr ? std::nullopt : fault_source_->changes();
  if (!listed) return;
  faults_failing_ = !listed->ok();
  if (!listed->ok()) return fail(listed->error());
  if (seen_) {
    // A file that does not fit the machine changes nothing.
    if (const auto fits = faults_of_file(seen_->topology, **listed, 0); !fits) {
      faults_failing_ = true;
      return fail(Error(fits.error()).in("known faults"));
    }
  }
  listed_ = std::move(*listed).value();
  listed_at_ = now_ms();
}

void Agent::clear_faults(std::optional<domain::ChipIndex> chip) {
  judge_.clear(chip);
  if (!restored_) cleared_.insert(chip);
}

void Agent::restore(const std::vector<domain::RememberedFault>& faults) {
  if (state_ == nullptr) return;
  restored_ = true;
  const auto cleared = std::exchange(cleared_, {});
  std::vector<Fault> out = in_terms_of(state_->topology, faults);
  std::erase_if(out, [&cleared](const Fault& fault) {
    return cleared.contains(std::nullopt) || cleared.contains(fault.chip);
  });
  judge_.restore(out);
}

void Agent::cordon(Cordon cordon) {
  if (cordon == cordon_) return;
  cordon_ = std::move(cordon);
  cordoned_at_ = now_ms();
}

void Agent::compose() {
  if (!seen_) return;
  auto faults = faults_now(*seen_);
  if (faults && !new_ && state_ != nullptr && *faults == state_->faults) return;
  auto next = faults ? composed(*seen_, std::move(faults).value())
                     : Result<NodeStatePtr>(std::move(faults).error());
  if (!next) {
    if (next.error().text() != misfit_) fail(next.error());
    misfit_ = next.error().text();
    return;
  }
  misfit_.clear();
  new_ = false;
  if (state_ == nullptr || !same(*state_, **next)) emit(std::move(next).value());
}

Result<std::vector<Fault>> Agent::faults_now(const domain::Observation& seen) {
  auto of_file = faults_of_file(seen.topology, listed_, listed_at_);
  if (!of_file) return std::move(of_file).error().in("known faults");
  std::vector<Fault> out = judge_.judge();
  std::move(of_file->begin(), of_file->end(), std::back_inserter(out));
  auto cordoned = faults_of_cordon(seen.topology, cordon_, cordoned_at_);
  std::move(cordoned.begin(), cordoned.end(), std::back_inserter(out));
  domain::sort_worst_first(out);
  return out;
}

Result<NodeStatePtr> Agent::composed(const domain::Observation& seen,
                                     std::vector<Fault> faults) const {
  std::vector<std::string> resources = options_.resources;
  if (resources.empty()) {
    auto usual = default_resources(seen.topology);
    if (!usual) return std::move(usual).error();
    resources = std::move(usual).value();
  }
  auto effects = with_effects(seen.topology, seen.ports, faults);
  if (!effects) return std::move(effects).error();
  auto named = with_identity(*effects, options_.node);
  if (!named) return std::move(named).error();
  auto conditions = conditions_of(
      faults, state_ == nullptr ? std::vector<domain::Condition>{} : state_->conditions, now_ms());
  return NodeStatePtr(std::make_shared<const NodeState>(
      NodeState{seen.machine, std::move(resources), std::move(named).value(), std::move(faults),
                std::move(conditions), seen.neighbours, seen.facts}));
}

void Agent::emit(NodeStatePtr next) {
  const NodeStatePtr before = std::exchange(state_, std::move(next));
  report_changes(before == nullptr ? std::vector<Fault>{} : before->faults, state_->faults);
  if (events_.state) events_.state(state_, before == nullptr || is_worse(*before, *state_));
}

void Agent::report_changes(const std::vector<Fault>& before, const std::vector<Fault>& now) const {
  if (!events_.fault) return;
  for (const Fault& fault : before) {
    if (find(now, fault) == nullptr) events_.fault({FaultChange::Kind::cleared, fault});
  }
  for (const Fault& fault : now) {
    const Fault* was = find(before, fault);
    if (was == nullptr) {
      events_.fault({FaultChange::Kind::raised, fault});
    } else if (was->effect != fault.effect || was->lanes != fault.lanes) {
      events_.fault({FaultChange::Kind::changed, fault});
    }
  }
}

std::string Agent::blind() const {
  if (state_ == nullptr) {
    return "the hardware has not responded yet" +
           (trouble_ ? ": " + trouble_->code + ": " + trouble_->text : std::string());
  }
  for (const Fault& fault : state_->faults) {
    if (is_of_probe(fault) && fault.effect == Effect::unusable) {
      return "the hardware does not respond: " + fault.code + ": " + fault.text;
    }
  }
  return "";
}

void Agent::fail(const Error& error) {
  ++errors_;
  events_.warning(error.text() + (state_ == nullptr ? " (nothing is reported until this is fixed)"
                                                    : " (the last good state is kept)"));
}

std::chrono::duration<double> Agent::age() const { return clock_.now() - good_; }

std::int64_t Agent::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch())
      .count();
}

}  // namespace chipweave::agent
