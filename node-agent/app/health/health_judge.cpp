#include "node-agent/app/health/health_judge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;
using domain::HealthRule;
using domain::Recovery;
using domain::Signal;
using domain::SignalKind;

constexpr int kNone = -1;
constexpr std::size_t kMaxCodes = 4096;
constexpr int kMostFlaps = 30;  // that lengthen a hold

int number(const std::optional<ChipIndex>& chip) { return chip ? chip->value : kNone; }

std::int64_t milliseconds(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

Fault fault_of(const Signal& signal) {
  Fault out;
  out.code = signal.code;
  out.chip = signal.chip;
  out.port = signal.port;
  out.part = signal.nic;
  out.text = signal.text;
  return out;
}

}  // namespace

HealthJudge::HealthJudge(domain::HealthPolicy policy, const Clock& clock)
    : policy_(std::move(policy)), clock_(clock) {
  link_rule_.code = "link.down";
  link_rule_.effect = Effect::link;
  link_rule_.hold = policy_.link_hold;
}

const HealthRule& HealthJudge::rule_of(const std::string& code) {
  if (const auto known = rules_.find(code); known != rules_.end()) return *known->second;
  const auto found =
      std::find_if(policy_.rules.begin(), policy_.rules.end(),
                   [&](const HealthRule& rule) { return domain::matches(rule, code); });
  const HealthRule& rule = found == policy_.rules.end() ? other_rule_ : *found;
  if (rules_.size() >= kMaxCodes) rules_.clear();
  rules_.emplace(code, &rule);
  return rule;
}

HealthJudge::Key HealthJudge::key_of(const Fault& fault) {
  return {fault.code, number(fault.chip), number(fault.peer), fault.port.value_or(kNone),
          fault.part};
}

HealthJudge::Record* HealthJudge::record(const Fault& fault, const HealthRule& rule) {
  const Key key = key_of(fault);
  auto at = records_.find(key);
  if (at == records_.end()) {
    if (records_.size() >= kMaxRecords) {
      lose(fault);
      return nullptr;
    }
    at = records_.emplace(key, Record{}).first;
    at->second.fault = fault;
    at->second.fault.effect = rule.effect;
    at->second.rule = &rule;
    at->second.level_since = clock_.now();
  }
  return &at->second;
}

// A fault that cannot be kept may be of any kind, so it concerns the whole machine until an
// operator clears it.
void HealthJudge::lose(const Fault& fault) {
  if (too_many_) return;
  too_many_.emplace();
  too_many_->code = "faults.too-many";
  too_many_->effect = Effect::unusable;
  too_many_->text = "more than " + std::to_string(kMaxRecords) +
                    " faults at once; the first one that was not kept: " + fault.code + " of " +
                    place_of(fault);
  too_many_->since = milliseconds(clock_.wall());
  too_many_->held_until = domain::kHeldUntilReset;
}

void HealthJudge::observe(const domain::Observation& seen) {
  for (auto& [key, record] : records_) {
    if (record.of_trouble) continue;
    record.stated = false;
    if (!record.counter) record.level = 0;
  }
  for (const Signal& signal : seen.signals) see(signal);
  see_links(seen.topology);
  for (auto& [key, record] : records_) settle(record);
}

void HealthJudge::occurred(const std::vector<Signal>& events) {
  for (const Signal& event : events) {
    if (domain::is_reset(event)) reset(event.chip);
  }
  for (const Signal& event : events) see(event);
}

void HealthJudge::trouble(const std::optional<Trouble>& trouble) {
  for (auto& [key, record] : records_) {
    if (!record.of_trouble || (trouble && record.fault.code == trouble->code)) continue;
    record.stated = false;
    record.level = 0;
    settle(record);
  }
  if (!trouble) return;
  Fault fault;
  fault.code = trouble->code;
  Record* record = this->record(fault, rule_of(trouble->code));
  if (record == nullptr) return;
  record->of_trouble = true;
  record->fault.text = trouble->text;
  record->stated = true;
  record->level = 1;
  record->level_since = trouble->since;
  settle(*record);
}

void HealthJudge::see(const Signal& signal) {
  const HealthRule& rule = rule_of(signal.code);
  const bool limited = &rule != &other_rule_;  // a limit needs a rule
  if (signal.kind == SignalKind::reading && !(limited && signal.value >= rule.at_least)) return;
  Record* record = this->record(fault_of(signal), rule);
  if (record == nullptr) return;
  if (!signal.text.empty()) record->fault.text = signal.text;
  if (signal.kind == SignalKind::event) {
    occur(*record);
  } else if (signal.kind == SignalKind::counter) {
    if (!record->counter) record->counter.emplace();
    record->counter->see(signal.value, clock_.now());
  } else {
    record->stated = true;
    record->level = 1;
  }
}

void HealthJudge::see_links(const domain::NodeTopology& t) {
  for (const domain::DirectLink& link : t.links()) {
    if (link.lanes_down == 0) continue;
    Fault fault;
    fault.chip = t.chip(link.a).index;
    fault.peer = t.chip(link.b).index;
    fault.text = std::string(to_string(link.kind)) + " to chip " +
                 std::to_string(fault.peer->value) + ": " + std::to_string(link.lanes_down) +
                 " of " + std::to_string(link.lanes) + " lanes down";
    see_link(std::move(fault), link.lanes_down);
  }
  for (const domain::Switch& s : t.switches()) {
    for (const domain::SwitchPort& port : s.ports) {
      if (port.lanes_down == 0) continue;
      Fault fault;
      fault.chip = t.chip(port.slot).index;
      fault.part = s.name;
      fault.text = std::string(to_string(s.kind)) + ": " + std::to_string(port.lanes_down) +
                   " of " + std::to_string(port.lanes) + " lanes down";
      see_link(std::move(fault), port.lanes_down);
    }
  }
}

void HealthJudge::see_link(Fault fault, int lanes) {
  fault.code = link_rule_.code;
  Record* record = this->record(fault, link_rule_);
  if (record == nullptr) return;
  record->stated = true;
  record->level = lanes;
  if (lanes >= record->held) record->fault.text = std::move(fault.text);
}

HealthJudge::Seconds HealthJudge::hold_of(const Record& record) const {
  const double factor = std::ldexp(1.0, std::min(record.flaps, kMostFlaps));
  const double most = std::max(record.rule->hold, policy_.longest_hold);
  return Seconds(std::min(record.rule->hold * factor, most));
}

// An event: a cause that is over as soon as it is reported.
void HealthJudge::occur(Record& record) {
  record.level = 1;
  apply(record);
  record.level = 0;
}

bool HealthJudge::is_early(const Record& record) const {
  return record.level > 0 && record.held == 0 &&
         clock_.now() - record.level_since < Seconds(record.rule->after);
}

void HealthJudge::settle(Record& record) {
  if (record.counter) {
    const double rise = record.counter->rise(clock_.now(), Seconds(record.rule->window));
    record.level = rise >= record.rule->rise ? 1 : 0;
  }
  if (record.level == 0) {
    record.level_since = clock_.now();
    if (record.held == 0) record.noted = false;
  }
  if (is_early(record)) {
    note(record);
  } else {
    apply(record);
  }
}

void HealthJudge::note(Record& record) const {
  if (!std::exchange(record.noted, true)) record.fault.since = milliseconds(clock_.wall());
}

void HealthJudge::apply(Record& record) {
  const Clock::Steady now = clock_.now();
  if (record.level >= record.held) {
    if (record.held == 0 && record.level > 0) {
      const bool again = record.recovered && now - *record.recovered < Seconds(policy_.flap_window);
      record.flaps = again ? record.flaps + 1 : 0;
      note(record);
    }
    record.held = record.level;
    record.lower_since = now;
    record.held_until = 0;
    return;
  }
  if (record.rule->recovery == Recovery::reset) return;
  if (now - record.lower_since < hold_of(record)) return;
  record.held = record.level;
  record.lower_since = now;
  record.held_until = 0;
  if (record.held == 0) record.recovered = now;
}

std::vector<Fault> HealthJudge::judge() {
  std::vector<Fault> out;
  for (auto& [key, record] : records_) {
    settle(record);
    const bool early = is_early(record);
    if (record.held == 0 && !early) continue;
    Fault fault = record.fault;
    if (early) fault.effect = Effect::note;
    if (record.rule == &link_rule_) fault.lanes = record.held;
    if (record.level < record.held) fault.held_until = held_until(record);
    out.push_back(std::move(fault));
  }
  if (too_many_) out.push_back(*too_many_);
  forget();
  domain::sort_worst_first(out);
  return out;
}

// Computed once: the two clocks drift, and a changed time would look like a changed fault.
std::int64_t HealthJudge::held_until(Record& record) const {
  if (record.rule->recovery == Recovery::reset) return domain::kHeldUntilReset;
  if (record.held_until == 0) {
    const auto left = hold_of(record) - Seconds(clock_.now() - record.lower_since);
    record.held_until =
        milliseconds(clock_.wall()) + static_cast<std::int64_t>(std::lround(left.count() * 1000));
  }
  return record.held_until;
}

// Drops records that have been over for longer than the flap window.
void HealthJudge::forget() {
  const Clock::Steady now = clock_.now();
  std::erase_if(records_, [&](const auto& entry) {
    const Record& record = entry.second;
    return record.held == 0 && !record.stated && !record.counter &&
           (!record.recovered || now - *record.recovered >= Seconds(policy_.flap_window));
  });
}

void HealthJudge::reset(std::optional<ChipIndex> chip) {
  for (auto& [key, record] : records_) {
    if (chip && record.fault.chip != chip) continue;
    // A rise before the reset caused it or was ended by it.
    if (record.counter) record.counter.emplace();
    if (record.rule->recovery != Recovery::reset || record.held == 0) continue;
    record.held = 0;
    record.recovered = clock_.now();
  }
}

void HealthJudge::clear(std::optional<ChipIndex> chip) {
  if (!chip) too_many_.reset();
  for (auto& [key, record] : records_) {
    if (chip && record.fault.chip != chip) continue;
    if (record.level >= record.held) continue;
    record.held = record.level;
    record.recovered.reset();
    record.flaps = 0;
  }
}

void HealthJudge::restore(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    restore(fault, fault.code == link_rule_.code ? link_rule_ : rule_of(fault.code));
  }
}

void HealthJudge::restore(const Fault& fault, const HealthRule& rule) {
  if (rule.after > 0 && fault.effect < rule.effect) return;  // it was an early one
  const bool timed = rule.recovery != Recovery::reset;
  Seconds left(timed ? rule.hold : 0);
  if (timed && fault.held_until > 0) {
    const Seconds rest(static_cast<double>(fault.held_until - milliseconds(clock_.wall())) / 1000);
    left = std::min(rest, Seconds(std::max(rule.hold, policy_.longest_hold)));
  }
  if (timed && left <= Seconds(0)) return;
  Record* record = this->record(fault, rule);
  if (record == nullptr || record->held > 0) return;
  record->fault.since = fault.since;
  record->fault.held_until = 0;
  record->fault.lanes = 0;
  record->noted = true;
  record->held = std::max(1, fault.lanes);
  // A hold that is longer than the rule's is that of a flapping cause.
  while (timed && hold_of(*record) < left && record->flaps < kMostFlaps) ++record->flaps;
  record->lower_since = clock_.now() - std::chrono::duration_cast<Clock::Steady::duration>(
                                           timed ? hold_of(*record) - left : Seconds(0));
}

void HealthJudge::resume() {
  for (auto& [key, record] : records_) {
    if (record.counter) record.counter.emplace();
  }
}

void HealthJudge::rename(const std::map<ChipIndex, ChipIndex>& chips) {
  const auto to = [&chips](std::optional<ChipIndex>& chip) {
    const auto known = chip ? chips.find(*chip) : chips.end();
    if (known != chips.end()) chip = known->second;
  };
  std::map<Key, Record> out;
  for (auto& [key, record] : records_) {
    Fault& fault = record.fault;
    to(fault.chip);
    to(fault.peer);
    if (fault.chip && fault.peer && *fault.peer < *fault.chip) std::swap(fault.chip, fault.peer);
    out.emplace(key_of(fault), std::move(record));
  }
  records_ = std::move(out);
}

}  // namespace chipweave::agent
