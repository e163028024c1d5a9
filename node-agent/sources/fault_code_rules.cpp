#include "node-agent/sources/fault_code_rules.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace chipweave::agent {
namespace {

using codec::ascend::FaultLevel;
using domain::Effect;
using domain::HealthRule;

std::string signal_of(std::uint32_t code) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "dcmi.%08x", code);
  return text.data();
}

Effect effect_of(FaultLevel level) {
  switch (level) {
    case FaultLevel::not_handle_fault:
    case FaultLevel::sub_health_fault:
    case FaultLevel::restart_request:
      return Effect::note;
    case FaultLevel::restart_business:
    case FaultLevel::free_restart_npu:
    case FaultLevel::restart_npu:
    case FaultLevel::pre_separate_npu:
    case FaultLevel::separate_npu:
    case FaultLevel::manually_separate_npu:
      break;
  }
  return Effect::unusable;
}

}  // namespace

std::vector<HealthRule> rules_of(const codec::ascend::FaultTable& table) {
  std::vector<HealthRule> out;
  for (const auto& [code, level] : table.network) {
    HealthRule rule;
    rule.code = signal_of(code);
    rule.effect = effect_of(level) == Effect::note ? Effect::note : Effect::network;
    out.push_back(std::move(rule));
  }
  for (const auto& [code, level] : table.chip) {
    if (codec::ascend::is_network_fault(table, code)) continue;
    HealthRule rule;
    rule.code = signal_of(code);
    rule.effect = effect_of(level);
    if (level == FaultLevel::manually_separate_npu) rule.recovery = domain::Recovery::reset;
    out.push_back(std::move(rule));
  }
  return out;
}

}  // namespace chipweave::agent
