#include "node-agent/app/health/conditions.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace chipweave::agent {
namespace {

using domain::Condition;
using domain::Effect;
using domain::Fault;

constexpr std::size_t kMaxNamed = 8;

struct ConditionRule {
  const char* type;
  const char* reason_true;
  const char* reason_false;
  bool (*concerns)(const Fault&);
};

constexpr std::array<ConditionRule, 4> kRules = {{
    {"ChipsHealthy", "AllChipsUsable", "ChipsUnusable",
     [](const Fault& f) { return f.effect == Effect::unusable; }},
    {"LinksHealthy", "AllLinksUp", "LinksDegraded",
     [](const Fault& f) { return f.effect == Effect::link; }},
    {"NetworkHealthy", "AllPortsUp", "ChipsWithoutNetwork",
     [](const Fault& f) { return f.effect == Effect::network; }},
    {"ProbeWorking", "HardwareResponds", "HardwareNotResponding", is_of_probe},
}};

// "chip 3: xid.79 (fallen off the bus); link 0-4: link.down; and 3 more"
std::string message_of(const std::vector<const Fault*>& faults) {
  std::string out;
  for (std::size_t i = 0; i < std::min(faults.size(), kMaxNamed); ++i) {
    const Fault& fault = *faults[i];
    out += (i == 0 ? "" : "; ") + place_of(fault) + ": " + fault.code;
    if (!fault.text.empty()) out += " (" + fault.text + ")";
  }
  if (faults.size() > kMaxNamed) {
    out += "; and " + std::to_string(faults.size() - kMaxNamed) + " more";
  }
  return out;
}

}  // namespace

bool is_of_probe(const Fault& fault) {
  return fault.code.starts_with("probe.") || fault.code.starts_with("driver.") ||
         fault.code == "machine.gone";
}

std::vector<Condition> conditions_of(const std::vector<Fault>& faults,
                                     const std::vector<Condition>& before, std::int64_t now) {
  std::vector<Condition> out;
  for (const ConditionRule& rule : kRules) {
    std::vector<const Fault*> found;
    for (const Fault& fault : faults) {
      if (rule.concerns(fault)) found.push_back(&fault);
    }
    Condition condition{rule.type, found.empty(),
                        found.empty() ? rule.reason_true : rule.reason_false, message_of(found),
                        now};
    const auto was = std::find_if(before.begin(), before.end(), [&](const Condition& one) {
      return one.type == condition.type && one.holds == condition.holds;
    });
    if (was != before.end()) condition.since = was->since;
    out.push_back(std::move(condition));
  }
  return out;
}

}  // namespace chipweave::agent
