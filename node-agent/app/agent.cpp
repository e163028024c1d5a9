#include "node-agent/app/agent.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "node-agent/app/delta.hpp"
#include "node-agent/app/health/conditions.hpp"
#include "node-agent/app/health/fault_effects.hpp"
#include "node-agent/app/identity.hpp"
#include "node-agent/app/machine/memory.hpp"

namespace chipweave::agent {
namespace {

using domain::Effect;
using domain::Fault;

constexpr std::size_t kMaxEarly = 4096;          // events before the first observation
constexpr std::chrono::seconds kWorkingFor{10};  // without trouble, until it counts as over
constexpr std::chrono::seconds kStartWithin{
    30};                                    // the driver; then what is known without it counts
constexpr std::chrono::hours kLongAgo{24};  // longer than any rule waits

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
      machine_view_(options_.hardware),
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
  warn_of((*found)->warnings);
  if (const auto taken = machine_view_.take(std::move(*found).value()); !taken) {
    return Error(taken.error());
  }
  judge_machine();
  const domain::Observation& seen = *machine_view_.seen();
  auto faults = faults_now(seen);
  if (!faults) return std::move(faults).error();
  auto state = composed(seen, std::move(faults).value());
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
  const bool news = update.reading && take_reading(*std::move(update.reading));
  // Events first: a reset ends what was before it, not what the reading shows.
  take_events(std::move(update.events));
  if (news || fall_back()) judge_machine();
  if (update.metrics) take_metrics(*std::move(update.metrics));
  if (carried_.due(clock_.now())) new_ = true;
  const auto trouble = trouble_now();
  if (maintenance_.ending() && (news || trouble)) end_maintenance();
  judge_trouble(trouble);
}

bool Agent::take_reading(Result<domain::Observation> reading) {
  const bool starting = reading && reading->basis == domain::Basis::starting;
  if (!starting) failure_.reset();
  if (reading) warn_of(reading->warnings);
  const bool of_driver = reading && reading->basis == domain::Basis::driver;
  auto taken = reading ? machine_view_.take(std::move(reading).value())
                       : Result<bool>(std::move(reading).error());
  if (taken) {
    if (!starting) machine_failing_ = false;
    if (*taken) {
      unseen_ = false;
      machine_known();
    }
    return *taken;
  }
  machine_failing_ = true;
  fail(taken.error());
  // A topology of the driver that makes no machine leaves the one before.
  if (of_driver) return false;
  const bool none = taken.error().code == Errc::not_found;
  failure_ = ProbeTrouble{none ? "machine.gone" : "probe.failing", taken.error().text()};
  return false;
}

// A driver that hangs, crashes or fails from the start, or is not to be asked.
bool Agent::fall_back() {
  const bool late = clock_.now() - began_ >= kStartWithin || maintenance_.on();
  if (!late && !failure_ && !machine_.trouble()) return false;
  if (!machine_view_.fall_back()) return false;
  machine_known();
  return true;
}

void Agent::machine_known() {
  new_ = true;
  restore_cordon_and_faults();
}

void Agent::judge_machine() {
  if (!maintenance_.on()) judge_.observe(*machine_view_.seen());
}

std::optional<ProbeTrouble> Agent::trouble_now() const {
  if (auto trouble = machine_.trouble()) return trouble;
  if (failure_ || !machine_view_.only_remembered()) return failure_;
  return ProbeTrouble{"probe.starting",
                      "the driver has not responded since this agent started; what is known is of "
                      "its previous run"};
}

// A probe process that crashes again and again works for moments in between; so the time without
// the hardware goes on until it has worked for a while.
void Agent::judge_trouble(std::optional<ProbeTrouble> trouble) {
  if (trouble) {
    if (!blind_since_) blind_since_ = clock_.now();
    working_since_.reset();
    // What was not seen in this run, or since a maintenance, is not offered for a moment.
    const bool unseen = unseen_ || machine_view_.only_remembered();
    const auto since = unseen ? clock_.now() - kLongAgo : *blind_since_;
    if (maintenance_.on()) {
      judge_.trouble(std::nullopt);
    } else {
      judge_.trouble(HealthJudge::Trouble{trouble->code, trouble->text, since});
    }
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

void Agent::take_events(std::vector<domain::Signal> events) {
  if (machine_view_.seen() == nullptr) {
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
  machine_view_.name(events);
  if (events_.event) {
    for (const domain::Signal& event : events) events_.event(event);
  }
  maintenance_.filter(events);
  judge_.occurred(events);
}

void Agent::take_metrics(domain::MetricsSample sample) {
  if (machine_view_.seen() == nullptr) return;
  machine_view_.name(sample.chips);
  carried_.take(sample, clock_.now());
  if (events_.metrics) events_.metrics(sample, carried_);
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
  if (const auto* seen = machine_view_.seen()) {
    // A file that does not fit the machine changes nothing.
    if (const auto fits = faults_of_file(seen->topology, **listed, 0); !fits) {
      faults_failing_ = true;
      return fail(Error(fits.error()).in("known faults"));
    }
  }
  listed_ = std::move(*listed).value();
  listed_at_ = now_ms();
}

void Agent::clear_faults(std::optional<domain::ChipIndex> chip) {
  judge_.clear(chip);
  if (remembered_ || !restored_) cleared_.insert(chip);
  const auto forgotten = machine_view_.forget_gone(chip);
  if (!forgotten) return fail(forgotten.error());
  if (!*forgotten) return;
  new_ = true;
  judge_machine();
  judge_.clear(chip);  // the fault of a chip that is no longer there
}

void Agent::restore(domain::RememberedNode node) {
  if (std::exchange(restored_, true)) return;
  auto machine = remembered_machine(node);
  if (!machine) {
    events_.warning(std::move(machine).error().in("the inventory of the previous run").text());
  } else if (*machine) {
    const bool known = machine_view_.seen() != nullptr;
    const bool had_driver = !machine_view_.only_remembered();
    std::string problem = known ? MachineView::driver_problem(*machine_view_.seen()) : "";
    judge_.rename(machine_view_.recall(**std::move(machine)));
    if (known) {
      new_ = true;
      if (had_driver && machine_view_.only_remembered()) {
        failure_ = ProbeTrouble{"probe.failing", std::move(problem)};
      }
      judge_machine();
    }
  }
  auto maintenance = remembered_maintenance(node);
  maintenance_.restore(std::move(maintenance.reason), maintenance.since);
  apply_maintenance();
  remembered_ = std::move(node);
  restore_cordon_and_faults();
}

// Once there is a machine that they are about.
void Agent::restore_cordon_and_faults() {
  if (!remembered_ || machine_view_.seen() == nullptr) return;
  const auto node = *std::exchange(remembered_, std::nullopt);
  const auto cleared = std::exchange(cleared_, {});
  // Chips without an id of their own are remembered by the name that they were given.
  const auto& seen = machine_view_.seen()->topology;
  const auto named = with_identity(seen, options_.node);
  const domain::NodeTopology& now = named ? *named : seen;
  const auto remembered = remembered_cordon(node, now);
  if (!cordon_known_ && !(remembered.cordon == Cordon())) {
    cordon_.merge(remembered.cordon);
    cordoned_at_ = remembered.since;
  }
  std::vector<Fault> faults = remembered_faults(node, now);
  std::erase_if(faults, [&cleared](const Fault& fault) {
    return cleared.contains(std::nullopt) || cleared.contains(fault.chip);
  });
  judge_.restore(faults);
}

void Agent::cordon(Cordon cordon, bool complete) {
  if (!complete) cordon.merge(cordon_);
  cordon_known_ = cordon_known_ || complete;
  if (cordon == cordon_) return;
  cordon_ = std::move(cordon);
  cordoned_at_ = now_ms();
}

void Agent::contested(std::string why) {
  if (contested_.empty()) contested_since_ = now_ms();
  contested_ = std::move(why);
}

void Agent::maintenance(std::optional<std::string> reason) {
  maintenance_.set(std::move(reason), now_ms());
  apply_maintenance();
}

void Agent::apply_maintenance() {
  const bool ordered = maintenance_.on() && !maintenance_.ending();
  machine_.pause(ordered);
  if (ordered) {
    failure_.reset();
    unseen_ = true;
  } else if (maintenance_.ending() && !options_.hardware) {
    end_maintenance();
  }
}

void Agent::end_maintenance() {
  maintenance_.end();
  if (const std::string unjudged = maintenance_.take_unjudged(); !unjudged.empty()) {
    events_.warning(unjudged);
  }
  judge_.resume();
  if (machine_view_.seen() != nullptr) judge_machine();
}

void Agent::compose() {
  const domain::Observation* seen = machine_view_.seen();
  if (seen == nullptr) return;
  auto faults = faults_now(*seen);
  if (faults && !new_ && state_ != nullptr && *faults == state_->faults) return;
  auto next = faults ? composed(*seen, std::move(faults).value())
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
  if (auto fault = maintenance_.fault()) out.push_back(*std::move(fault));
  if (!contested_.empty()) out.push_back(fault_of_contest(contested_, contested_since_));
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
                std::move(conditions), seen.neighbours, seen.facts, carried_.reported()}));
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
