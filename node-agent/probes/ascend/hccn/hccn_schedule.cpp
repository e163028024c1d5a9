#include "node-agent/probes/ascend/hccn/hccn_schedule.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/ascend/hccn/hccn_dev_info.hpp"

namespace chipweave::agent {
namespace {

using Kind = HccnSchedule::Kind;

std::chrono::seconds period_of(Kind kind) {
  switch (kind) {
    case Kind::link:
      return HccnSchedule::kLinksEvery;
    case Kind::address:
      return HccnSchedule::kAddressesEvery;
    case Kind::neighbour:
      return HccnSchedule::kNeighboursEvery;
  }
  return HccnSchedule::kNeighboursEvery;
}

std::vector<Kind> kinds_of(const HccnTarget& target) {
  std::vector<Kind> out;
  if (target.link) out.push_back(Kind::link);
  if (target.address) out.push_back(Kind::address);
  if (target.neighbour) out.push_back(Kind::neighbour);
  // On A5 only the state of the ports is read: the other commands are not documented for it.
  if (target.flat) std::erase_if(out, [](Kind kind) { return kind != Kind::link; });
  return out;
}

// A tool that is busy or does not run gives no information about the device.
bool says_nothing(const Error& error) {
  return error.code == Errc::unavailable || error.code == Errc::deadline;
}

void take_dev_info(const std::string& output, HccnAnswers& out) {
  const auto info = codec::ascend::parse_hccn_dev_info(output);
  if (!info && says_nothing(info.error())) return;
  out = {};
  if (!info) return;
  for (const auto& port : *info) {
    if (!port.up) out.ports_down.push_back(port.port);
  }
}

void take_link(const std::string& output, HccnAnswers& out) {
  const auto up = codec::ascend::parse_hccn_link(output);
  if (!up && says_nothing(up.error())) return;
  out.link_up = up ? std::optional(*up) : std::nullopt;
}

void take_address(const std::string& output, HccnAnswers& out) {
  const auto ports = codec::ascend::parse_hccn_ip(output);
  if (!ports && says_nothing(ports.error())) return;
  out.addresses.clear();
  if (!ports) return;
  for (const auto& port : *ports) out.addresses.push_back(port.address);
}

void take_neighbour(const std::string& output, HccnAnswers& out) {
  auto neighbour = codec::ascend::parse_hccn_lldp(output);
  if (!neighbour && says_nothing(neighbour.error())) return;
  out.neighbour = neighbour ? std::optional(*std::move(neighbour)) : std::nullopt;
}

}  // namespace

void HccnSchedule::set_targets(const std::vector<HccnTarget>& targets) {
  std::vector<Entry> entries;
  for (const HccnTarget& target : targets) {
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&target](const Entry& e) { return e.target == target; });
    if (known != entries_.end()) {
      entries.push_back(*known);
      continue;
    }
    Entry entry{target, {}};
    for (const Kind kind : kinds_of(target)) entry.due.emplace(kind, Time::min());
    entries.push_back(std::move(entry));
  }
  entries_ = std::move(entries);
  std::erase_if(answers_, [this](const auto& answer) {
    return std::none_of(entries_.begin(), entries_.end(),
                        [&](const Entry& e) { return e.target.chip == answer.first; });
  });
}

HccnSchedule::Time HccnSchedule::due_of(const Entry& entry, Kind kind) const {
  const auto paused = paused_until_.find(kind);
  const Time due = entry.due.at(kind);
  return paused == paused_until_.end() ? due : std::max(due, paused->second);
}

HccnSchedule::Question HccnSchedule::question_of(const HccnTarget& target, Kind kind) {
  const std::string number = std::to_string(target.number);
  if (target.flat) return {target.chip, kind, {"-g", "-dev_info", "-i", number}};
  switch (kind) {
    case Kind::link:
      return {target.chip, kind, {"-i", number, "-link", "-g"}};
    case Kind::address:
      return {target.chip, kind, {"-i", number, "-ip", "-g"}};
    case Kind::neighbour:
      return {target.chip, kind, {"-i", number, "-lldp", "-g"}};
  }
  return {};
}

std::optional<HccnSchedule::Question> HccnSchedule::next(Time now) const {
  for (const Kind kind : {Kind::link, Kind::address, Kind::neighbour}) {
    const Entry* oldest = nullptr;
    for (const Entry& entry : entries_) {
      if (!entry.due.contains(kind) || due_of(entry, kind) > now) continue;
      if (oldest == nullptr || entry.due.at(kind) < oldest->due.at(kind)) oldest = &entry;
    }
    if (oldest != nullptr) return question_of(oldest->target, kind);
  }
  return std::nullopt;
}

std::optional<HccnSchedule::Time> HccnSchedule::due() const {
  std::optional<Time> out;
  for (const Entry& entry : entries_) {
    for (const auto& each : entry.due) {
      const Time due = due_of(entry, each.first);
      out = out ? std::min(*out, due) : due;
    }
  }
  return out;
}

void HccnSchedule::take(const Question& question, const Result<std::string>& output, Time now) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&question](const Entry& e) {
    return e.target.chip == question.chip;
  });
  if (!output && output.error().code == Errc::deadline) {
    paused_until_[question.kind] = now + kPauseAfterHang;
  }
  if (entry == entries_.end() || !entry->due.contains(question.kind)) return;
  entry->due[question.kind] = now + period_of(question.kind);
  if (!output) return;
  HccnAnswers& answers = answers_[question.chip];
  const HccnAnswers before = answers;
  if (entry->target.flat) {
    take_dev_info(*output, answers);
  } else if (question.kind == Kind::link) {
    take_link(*output, answers);
  } else if (question.kind == Kind::address) {
    take_address(*output, answers);
  } else {
    take_neighbour(*output, answers);
  }
  if (!(answers == before)) ++version_;
}

}  // namespace chipweave::agent
