#include "common/codec/ranktable/modelarts/route_file.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/ranktable/modelarts/job_pods.hpp"

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
  out.field("master_index", master_of(rank_of));
  out.key("ranks").begin_array();
  for (const std::size_t rank : rank_of) out.integer(static_cast<std::int64_t>(rank));
  return out.end_array().end_object().take();
}

Result<std::vector<std::size_t>> read_route_plan(std::string_view json) {
  const Result<JsonTree> tree = parse_json(json, {kMaxPlanBytes, limits::kMaxJsonValues});
  if (!tree) return tree.error();
  const JsonValue list = list_at(JsonValue(*tree), "ranks");
  const std::size_t pods = list.size();
  if (pods == 0 || pods > kMaxPodIndex)
    return network_error("expected a list \"ranks\" with the rank of each pod");
  std::vector<std::size_t> out;
  std::vector<bool> used(pods, false);
  for (const JsonValue entry : list) {
    const auto rank = static_cast<std::size_t>(entry.integer().value_or(-1));
    if (rank >= pods || used[rank]) {
      return network_error(concat("ranks[", out.size(), "] must be from 0 to ", pods - 1,
                                  ", and each rank must occur once"));
    }
    used[rank] = true;
    out.push_back(rank);
  }
  const auto master = JsonValue(*tree)["master_index"].integer();
  if (master != static_cast<std::int64_t>(master_of(out))) {
    return network_error("master_index must be the pod with rank 0");
  }
  return out;
}

}  // namespace chipweave::codec
