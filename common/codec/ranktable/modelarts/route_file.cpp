#include "common/codec/ranktable/modelarts/route_file.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/ranktable/modelarts/pod_fields.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxPlanBytes = 4U << 20U;

std::size_t master_of(const std::vector<std::size_t>& rank_of) {
  return static_cast<std::size_t>(
      std::distance(rank_of.begin(), std::find(rank_of.begin(), rank_of.end(), std::size_t{0})));
}

}  // namespace

std::string write_route_plan(const std::vector<std::size_t>& rank_of) {
  JsonWriter out;
  out.begin_object().field("version", "1.0").field("status", "completed");
  out.key("master_index").integer(static_cast<std::int64_t>(master_of(rank_of)));
  out.key("ranks").begin_array();
  for (const std::size_t rank : rank_of) out.integer(static_cast<std::int64_t>(rank));
  return out.end_array().end_object().take();
}

Result<std::vector<std::size_t>> read_route_plan(std::string_view json) {
  const Result<Json> value = parse_strict_json(json, {kMaxPlanBytes, limits::kMaxJsonValues});
  if (!value) return value.error();
  const Json* list = json_at(*value, {"ranks"});
  const Json* master = json_at(*value, {"master_index"});
  if (list == nullptr || !list->is_array() || list->empty() || list->size() > kMaxPodIndex)
    return network_error("expected a list \"ranks\" with the rank of each pod");
  std::vector<std::size_t> out;
  std::vector<bool> used(list->size(), false);
  for (const Json& entry : *list) {
    const bool good = entry.is_number_unsigned() && entry.get<std::uint64_t>() < list->size();
    const std::size_t rank = good ? entry.get<std::size_t>() : 0;
    if (!good || used[rank]) {
      return network_error(
          concat("ranks[", out.size(), "] is no rank of its own from 0 to ", list->size() - 1));
    }
    used[rank] = true;
    out.push_back(rank);
  }
  if (master == nullptr || !master->is_number_unsigned() ||
      master->get<std::size_t>() != master_of(out)) {
    return network_error("master_index must be the pod with rank 0");
  }
  return out;
}

}  // namespace chipweave::codec
