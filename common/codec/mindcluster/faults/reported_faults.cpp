#include "common/codec/mindcluster/faults/reported_faults.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"

namespace chipweave::codec::mindcluster {
namespace {

using domain::Effect;
using domain::Fault;

// Limits that keep the ConfigMap, which holds 1 MiB, small.
constexpr std::size_t kMaxCodes = 64;
constexpr std::size_t kMaxSwitchFaults = 256;

// Mildest first.
constexpr std::array<std::string_view, 9> kChipLevels = {
    "NotHandleFault", "SubHealthFault", "PreSeparateNPU",      "RestartRequest", "RestartBusiness",
    "FreeRestartNPU", "RestartNPU",     "ManuallySeparateNPU", "SeparateNPU"};

std::size_t rank_of(std::string_view level) {
  return static_cast<std::size_t>(std::find(kChipLevels.begin(), kChipLevels.end(), level) -
                                  kChipLevels.begin());
}

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_byte(text[at - 1])) &&
        (end == text.size() || !is_word_byte(text[end])))
      return true;
  }
  return false;
}

std::string_view level_of(const Fault& fault) {
  for (const std::string_view level : kChipLevels) {
    if (has_word(fault.text, level)) return level;
  }
  if (fault.code == "cordoned") return "ManuallySeparateNPU";
  switch (fault.effect) {
    case Effect::note:
      return "NotHandleFault";
    case Effect::link:
      return "SubHealthFault";
    case Effect::network:
      return "PreSeparateNPU";
    case Effect::unusable:
      break;
  }
  return "SeparateNPU";
}

// In upper case; "" unless it is a hex number of at most eight bytes.
std::string hex_code(std::string_view digits) {
  constexpr std::size_t kMaxDigits = 16;
  const bool hex = !digits.empty() && digits.size() <= kMaxDigits &&
                   digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  return hex ? upper_case(digits) : "";
}

std::string chip_code_of(const Fault& fault) {
  constexpr std::string_view kDcmi = "dcmi.";
  const std::string_view code = fault.code;
  return code.starts_with(kDcmi) ? hex_code(code.substr(kDcmi.size())) : "";
}

bool is_of_switch(const Fault& fault) { return fault.code.starts_with(kSwitchFaultPrefix); }

struct Entry {
  std::string_view level;
  FaultMoments moments;
};

void add(Entry& to, const Fault& fault) {
  const std::string_view level = level_of(fault);
  if (to.level.empty() || rank_of(to.level) < rank_of(level)) to.level = level;
  const std::string code = chip_code_of(fault);
  if (code.empty() || to.moments.size() >= kMaxCodes) return;
  const FaultMoment now{fault.since, std::string(level)};
  const auto [at, fresh] = to.moments.try_emplace(code, now);
  if (fresh) return;
  at->second.time = std::min(at->second.time, now.time);
  if (rank_of(at->second.level) < rank_of(level)) at->second.level = level;
}

// Mildest first.
constexpr std::array<std::string_view, 5> kSwitchLevels = {
    "NotHandleFault", "SubHealthFault", "ResetFault", "RestartRequestFault", "SeparateFault"};

// A place in kSwitchLevels.
std::size_t switch_level_of(const Fault& fault) {
  for (std::size_t i = 0; i < kSwitchLevels.size(); ++i) {
    if (has_word(fault.text, kSwitchLevels[i])) return i;
  }
  if (fault.effect == Effect::note) return 0;
  return fault.effect == Effect::link ? 1 : kSwitchLevels.size() - 1;
}

constexpr std::array<std::string_view, 3> kNodeLevels = {"NotHandleFault", "PreSeparateFault",
                                                         "SeparateFault"};
constexpr std::array<std::string_view, 3> kNodeStates = {kNodeHealthy, kNodePreSeparate,
                                                         kNodeUnHealthy};

std::size_t node_level_of(Effect effect) {
  if (effect == Effect::note) return 0;
  return effect == Effect::unusable ? 2 : 1;
}

// "node.cpu.0000001d": the component, then the fault code.
std::string device_type_of(std::string_view code) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {
      {{"cpu", "CPU"}, {"memory", "Memory"}, {"dimm", "Memory"}, {"disk", "Disk"}}};
  for (const auto& [word, type] : kTypes) {
    if (has_word(code, word)) return std::string(type);
  }
  return "Node";
}

std::string node_code_of(std::string_view code) {
  const std::size_t dot = code.rfind('.');
  std::string hex = dot == std::string_view::npos ? "" : hex_code(code.substr(dot + 1));
  return hex.empty() ? std::string(code) : hex;
}

}  // namespace

std::vector<ChipFault> chip_faults_of(const AscendNames& names, const std::vector<Fault>& faults) {
  std::map<std::pair<int, std::string_view>, Entry> by_chip;
  for (const Fault& fault : faults) {
    if (is_of_switch(fault)) continue;
    const std::string_view type =
        fault.effect == Effect::network ? kCardNetworkUnhealthy : kCardUnhealthy;
    for (const auto& chip : {fault.chip, fault.peer}) {
      const auto number = chip ? names.number(*chip) : std::nullopt;
      if (number) add(by_chip[{*number, type}], fault);
    }
  }
  std::vector<ChipFault> out;
  for (auto& [key, entry] : by_chip) {
    ChipFault fault;
    fault.type = key.second;
    fault.npu = chip_name(names.prefix(), key.first);
    fault.level = fault.large_model_level = fault.handling = entry.level;
    for (const auto& [code, moment] : entry.moments) {
      fault.code += (fault.code.empty() ? "" : ",") + code;
    }
    fault.moments = std::move(entry.moments);
    out.push_back(std::move(fault));
  }
  return out;
}

SwitchInfo switch_faults_of(const std::vector<Fault>& faults, std::int64_t update_time) {
  SwitchInfo out;
  out.update_time = update_time;
  std::size_t worst = 0;
  for (const Fault& fault : faults) {
    if (!is_of_switch(fault) || out.events.size() >= kMaxSwitchFaults) continue;
    const std::size_t level = switch_level_of(fault);
    worst = std::max(worst, level);
    SwitchEvent event;
    event.fault_code = fault.code.substr(kSwitchFaultPrefix.size());
    event.port = static_cast<std::uint32_t>(std::max(0, fault.port.value_or(0)));
    event.assertion = 1;
    event.raised = fault.since;
    out.moments[event.fault_code + "_" + std::to_string(event.chip) + "_" +
                std::to_string(event.port)] = {fault.since, std::string(kSwitchLevels[level])};
    out.events.push_back(std::move(event));
  }
  // Without faults there is no level, and the node is healthy.
  if (!out.events.empty()) out.level = kSwitchLevels[worst];
  out.node_status = node_status_of(out.level).value_or(kNodeUnHealthy);
  return out;
}

std::optional<NodeInfo> node_faults_of(const std::vector<Fault>& faults) {
  std::map<std::pair<std::string, std::size_t>, std::vector<std::string>> codes;
  std::size_t worst = 0;
  for (const Fault& fault : faults) {
    if (fault.chip || !fault.part.empty() || is_of_switch(fault)) continue;
    const std::size_t level = node_level_of(fault.effect);
    worst = std::max(worst, level);
    auto& list = codes[{device_type_of(fault.code), level}];
    std::string code = node_code_of(fault.code);
    if (list.size() < kMaxCodes && std::find(list.begin(), list.end(), code) == list.end())
      list.push_back(std::move(code));
  }
  if (codes.empty()) return std::nullopt;
  NodeInfo out;
  for (auto& [key, list] : codes) {
    std::sort(list.begin(), list.end());
    out.faults.push_back({key.first, 0, std::move(list), std::string(kNodeLevels[key.second])});
  }
  out.status = kNodeStates[worst];
  return out;
}

}  // namespace chipweave::codec::mindcluster
