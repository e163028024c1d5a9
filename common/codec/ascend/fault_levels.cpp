#include "common/codec/ascend/fault_levels.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec::ascend {
namespace {

constexpr std::array<std::string_view, 9> kNames = {
    "NotHandleFault", "SubHealthFault", "RestartRequest", "RestartBusiness",    "FreeRestartNPU",
    "RestartNPU",     "PreSeparateNPU", "SeparateNPU",    "ManuallySeparateNPU"};

struct ListKey {
  std::string_view key;
  FaultLevel level;
  bool network;
};

constexpr std::array<ListKey, 11> kLists = {{
    {"NotHandleFaultCodes", FaultLevel::not_handle_fault, false},
    {"SubHealthFaultCodes", FaultLevel::sub_health_fault, false},
    {"RestartRequestCodes", FaultLevel::restart_request, false},
    {"RestartBusinessCodes", FaultLevel::restart_business, false},
    {"FreeRestartNPUCodes", FaultLevel::free_restart_npu, false},
    {"RestartNPUCodes", FaultLevel::restart_npu, false},
    {"PreSeparateNPUCodes", FaultLevel::pre_separate_npu, false},
    {"SeparateNPUCodes", FaultLevel::separate_npu, false},
    {"NotHandleFaultNetworkCodes", FaultLevel::not_handle_fault, true},
    {"PreSeparateNPUNetworkCodes", FaultLevel::pre_separate_npu, true},
    {"SeparateNPUNetworkCodes", FaultLevel::separate_npu, true},
}};

constexpr unsigned kMajorSeverity = 2;

const ListKey* list_of(std::string_view key) {
  const auto* const it = std::find_if(kLists.begin(), kLists.end(),
                                      [key](const ListKey& list) { return list.key == key; });
  return it == kLists.end() ? nullptr : it;
}

// Eight hexadecimal digits.
std::optional<std::uint32_t> code_of(JsonValue value) {
  constexpr std::size_t kDigits = 8;
  const std::string_view text = value.text();
  if (!value.is_string() || text.size() != kDigits) return std::nullopt;
  return parse_number<std::uint32_t>(text, 16);
}

void read_list(const ListKey& list, JsonValue codes, FaultTable& out, JsonProblems& problems) {
  if (!codes.is_array() || codes.size() > kMaxFaultCodes) {
    problems.add(codes, "must be a list of at most " + std::to_string(kMaxFaultCodes) + " codes");
    return;
  }
  auto& levels = list.network ? out.network : out.chip;
  for (const JsonValue item : codes) {
    const auto code = code_of(item);
    if (!code) {
      problems.add(item, "must be a string of eight hex digits");
      continue;
    }
    const auto [it, is_new] = levels.try_emplace(*code, list.level);
    if (!is_new) it->second = std::max(it->second, list.level);
  }
}

}  // namespace

std::string_view to_string(FaultLevel level) { return kNames[static_cast<std::size_t>(level)]; }

Result<FaultTable> read_fault_table(std::string_view text) {
  constexpr std::size_t kMaxWarnings = 16;
  const auto table = parse_json(text, {kMaxFaultTableBytes, kLists.size() * kMaxFaultCodes});
  if (!table) return table.error();
  const JsonValue root(*table);
  if (!root.is_object()) {
    return make_error(Errc::invalid_argument,
                      expected("an object with lists of fault codes", root));
  }
  FaultTable out;
  JsonProblems problems;
  for (const JsonValue member : root) {
    if (const ListKey* list = list_of(member.name())) {
      read_list(*list, member, out, problems);
    } else if (out.warnings.size() < kMaxWarnings) {
      out.warnings.push_back("unknown key " + with_dots(member.name(), 60) + " is ignored");
    }
  }
  if (problems.any()) return problems.error();
  return out;
}

bool is_network_fault(const FaultTable& table, std::uint32_t code) {
  return code == kLinkDownCode || table.network.contains(code);
}

FaultLevel level_of(const FaultTable& table, std::uint32_t code, std::optional<unsigned> severity) {
  const bool network = is_network_fault(table, code);
  const auto& levels = network ? table.network : table.chip;
  if (const auto it = levels.find(code); it != levels.end()) return it->second;
  if (network) return FaultLevel::pre_separate_npu;
  return severity && *severity < kMajorSeverity ? FaultLevel::not_handle_fault
                                                : FaultLevel::separate_npu;
}

}  // namespace chipweave::codec::ascend
