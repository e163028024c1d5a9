#include "common/codec/ranktable/schema/known_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace chipweave::codec::ranktable {
namespace {

constexpr std::size_t kLongest = 64;
constexpr std::size_t kShort = 6;

// Members that real tables have in other places: not typing errors of what is near them.
constexpr std::array<std::string_view, 34> kElsewhere = {
    "host_ip",      "pod_ip",       "server_ip",    "server_id",      "device_ip",     "device_id",
    "rank_id",      "pod_name",     "tor_ip",       "tor_port",       "dpu_ip",        "numa_id",
    "az_id",        "local_id",     "cluster_id",   "group_id",       "device_port",   "host_port",
    "mgmt_port",    "metric_port",  "predict_port", "device",         "devices",       "rank_list",
    "server_list",  "group_list",   "node_list",    "level_list",     "hardware_type", "status",
    "container_ip", "data_version", "host_nic_ip",  "inter_comm_port"};

// Levenshtein distance, or more than `most` where it is more than that.
std::size_t edits(std::string_view a, std::string_view b, std::size_t most) {
  const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > most) return most + 1;
  std::array<std::size_t, kLongest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    std::size_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      least = std::min(least, row[j]);
    }
    if (least > most) return most + 1;
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& known) {
  if (name.size() > kLongest || name.empty()) return {};
  if (std::find(kElsewhere.begin(), kElsewhere.end(), name) != kElsewhere.end()) return {};
  std::string_view best;
  std::size_t fewest = (name.size() < kShort ? 1 : 2) + 1;
  for (const std::string_view each : known) {
    const std::size_t distance = edits(name, each, fewest - 1);
    if (distance < fewest) {
      fewest = distance;
      best = each;
    }
  }
  return best;
}

}  // namespace chipweave::codec::ranktable
