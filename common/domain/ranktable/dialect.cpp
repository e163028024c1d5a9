#include "common/domain/ranktable/dialect.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chipweave::domain::ranktable {
namespace {

constexpr std::array<std::pair<Dialect, std::string_view>, 14> kDialects = {{
    {Dialect::hccl_1_0, "hccl-1.0"},
    {Dialect::hccl_1_1, "hccl-1.1"},
    {Dialect::hccl_1_2, "hccl-1.2"},
    {Dialect::hccl_2_0, "hccl-2.0"},
    {Dialect::hccl_2_0_prerelease, "hccl-2.0-prerelease"},
    {Dialect::group_list, "group-list"},
    {Dialect::modelarts_local, "modelarts-local"},
    {Dialect::modelarts_global, "modelarts-global"},
    {Dialect::mindie_global, "mindie-global"},
    {Dialect::mindie_llm, "mindie-llm"},
    {Dialect::vllm_ascend, "vllm-ascend"},
    {Dialect::llm_datadist, "llm-datadist"},
    {Dialect::mindspore_cluster, "mindspore-cluster"},
    {Dialect::modelarts_1980, "modelarts-1980"},
}};

constexpr std::array<std::pair<Profile, std::string_view>, 12> kProfiles = {{
    {Profile::structural, "structural"},
    {Profile::hccl_910a, "hccl-910a"},
    {Profile::hccl_a2, "hccl-a2"},
    {Profile::hccl_a3, "hccl-a3"},
    {Profile::hccl_950, "hccl-950"},
    {Profile::hccl_310p, "hccl-310p"},
    {Profile::mindie_motor, "mindie-motor"},
    {Profile::mindie_llm, "mindie-llm"},
    {Profile::mindspore, "mindspore"},
    {Profile::torch_npu, "torch-npu"},
    {Profile::vllm_ascend, "vllm-ascend"},
    {Profile::modelarts, "modelarts"},
}};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value value) {
  const auto at =
      std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == value; });
  return at->second;  // every value is in its list
}

template <class Value, class Names>
std::optional<Value> value_in(const Names& names, std::string_view name) {
  const auto at =
      std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.second == name; });
  if (at == names.end()) return std::nullopt;
  return at->first;
}

template <class Names>
std::vector<std::string_view> all_names(const Names& names) {
  std::vector<std::string_view> out;
  out.reserve(names.size());
  for (const auto& each : names) out.push_back(each.second);
  return out;
}

// What HCCL itself parses.
bool read_by_hccl(Dialect dialect) {
  switch (dialect) {
    case Dialect::hccl_1_0:
    case Dialect::hccl_1_1:
    case Dialect::hccl_1_2:
    case Dialect::group_list:
    case Dialect::mindie_llm:
    case Dialect::mindspore_cluster:
    case Dialect::modelarts_1980:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view to_string(Dialect dialect) { return name_in(kDialects, dialect); }
std::optional<Dialect> dialect_named(std::string_view name) {
  return value_in<Dialect>(kDialects, name);
}
std::vector<std::string_view> dialect_names() { return all_names(kDialects); }

std::string_view to_string(Profile profile) { return name_in(kProfiles, profile); }
std::optional<Profile> profile_named(std::string_view name) {
  return value_in<Profile>(kProfiles, name);
}
std::vector<std::string_view> profile_names() { return all_names(kProfiles); }

bool reads(Profile profile, Dialect dialect) {
  switch (profile) {
    case Profile::structural:
      return true;
    case Profile::hccl_950:
      return dialect == Dialect::hccl_2_0 || dialect == Dialect::hccl_1_0 ||
             dialect == Dialect::hccl_1_2;
    case Profile::torch_npu:
    case Profile::mindspore:
      return read_by_hccl(dialect) || dialect == Dialect::hccl_2_0;
    case Profile::mindie_motor:
      return dialect == Dialect::mindie_global;
    case Profile::mindie_llm:
      return dialect == Dialect::mindie_llm || dialect == Dialect::hccl_1_0 ||
             dialect == Dialect::hccl_1_2;
    case Profile::vllm_ascend:
      return dialect == Dialect::vllm_ascend || dialect == Dialect::llm_datadist;
    case Profile::modelarts:
      return dialect == Dialect::modelarts_global || dialect == Dialect::modelarts_local ||
             dialect == Dialect::modelarts_1980;
    default:
      return read_by_hccl(dialect);
  }
}

}  // namespace chipweave::domain::ranktable
