#include "node-agent/app/health/operator_faults.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;

constexpr const char* kFile = "health-file";

Fault* known(std::vector<Fault>& in, const Fault& fault) {
  const auto at = std::find_if(in.begin(), in.end(),
                               [&](const Fault& one) { return domain::same_cause(one, fault); });
  return at == in.end() ? nullptr : &*at;
}

Result<void> add_chips(const domain::NodeTopology& t, const std::vector<ChipIndex>& chips,
                       const std::string& key, Effect effect, std::vector<Fault>& out) {
  for (const ChipIndex chip : chips) {
    if (!t.slot_of(chip)) {
      return make_error(Errc::invalid_argument, key + " names chip " + std::to_string(chip.value) +
                                                    ", which this machine does not have");
    }
    Fault fault;
    fault.code = kFile;
    fault.effect = effect;
    fault.chip = chip;
    fault.text = "the health file lists it as " + key;
    // A chip in both lists is unhealthy, which is worse and comes first.
    if (known(out, fault) == nullptr) out.push_back(std::move(fault));
  }
  return {};
}

Result<void> add_link(const domain::NodeTopology& t, const domain::DownLink& down,
                      std::vector<Fault>& out) {
  for (const ChipIndex chip : {down.a, down.b}) {
    if (t.slot_of(chip)) continue;
    return make_error(Errc::invalid_argument, "down_links names chip " +
                                                  std::to_string(chip.value) +
                                                  ", which this machine does not have");
  }
  const ChipIndex a = std::min(down.a, down.b);
  const ChipIndex b = std::max(down.a, down.b);
  const domain::DirectLink* link = t.link(*t.slot_of(a), *t.slot_of(b));
  if (link == nullptr) {
    return make_error(Errc::invalid_argument, "down_links names " + std::to_string(down.a.value) +
                                                  "-" + std::to_string(down.b.value) +
                                                  ", a pair without a direct link");
  }
  Fault fault;
  fault.code = kFile;
  fault.effect = Effect::link;
  fault.chip = a;
  fault.peer = b;
  Fault* before = known(out, fault);
  if (before == nullptr) before = &out.emplace_back(std::move(fault));
  const int down_already = before->lanes > 0 ? before->lanes : link->lanes_down;
  before->lanes = std::min(link->lanes, down_already + down.lanes.value_or(link->lanes));
  before->text = "the health file lists " + std::to_string(before->lanes) + " of " +
                 std::to_string(link->lanes) + " lanes to chip " + std::to_string(b.value) +
                 " as down";
  return {};
}

Fault whole_machine(const char* code, std::string text, std::int64_t since) {
  Fault out;
  out.code = code;
  out.effect = Effect::unusable;
  out.since = since;
  out.text = std::move(text);
  return out;
}

}  // namespace

bool is_reported(const Fault& fault) {
  return fault.code == kFile || fault.code == kCordoned || fault.code == kMaintenance ||
         fault.code == kContested;
}

Result<std::vector<Fault>> faults_of_file(const domain::NodeTopology& t,
                                          const domain::DeclaredFaults& listed,
                                          std::int64_t since) {
  std::vector<Fault> out;
  if (auto ok = add_chips(t, listed.unhealthy, "unhealthy", Effect::unusable, out); !ok)
    return std::move(ok).error();
  if (auto ok = add_chips(t, listed.network_unhealthy, "network_unhealthy", Effect::network, out);
      !ok)
    return std::move(ok).error();
  for (const domain::DownLink& down : listed.down_links) {
    if (auto ok = add_link(t, down, out); !ok) return std::move(ok).error();
  }
  for (Fault& fault : out) fault.since = since;
  return out;
}

std::vector<Fault> faults_of_cordon(const domain::NodeTopology& t, const Cordon& cordon,
                                    std::int64_t since) {
  std::vector<Fault> out;
  for (const domain::Chip& chip : t.chips()) {
    if (!cordon.all && !cordon.chips.contains(chip.index)) continue;
    Fault fault;
    fault.code = kCordoned;
    fault.effect = Effect::unusable;
    fault.chip = chip.index;
    fault.since = since;
    fault.text = "taken out of service by an operator";
    out.push_back(std::move(fault));
  }
  return out;
}

Fault fault_of_maintenance(std::string reason, std::int64_t since) {
  return whole_machine(kMaintenance, std::move(reason), since);
}

Fault fault_of_contest(const std::string& why, std::int64_t since) {
  return whole_machine(kContested, with_dots(why, domain::kMaxFaultTextBytes), since);
}

}  // namespace chipweave::agent
