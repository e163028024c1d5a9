// Nodes and pods as a scheduler answers them, for tests of what-if questions.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/scheduler_client.hpp"
#include "common/codec/topology/import.hpp"
#include "tests/unit/cli/profile.hpp"

namespace chipweave::cli::test {

// The chips of a machine with eight.
inline const std::vector<int> kAll{0, 1, 2, 3, 4, 5, 6, 7};

// An item of /api/v1/nodes?topology=1 with these chips free; the others are some pod's.
inline nlohmann::json live_node(const std::string& name, const std::vector<int>& free,
                                const std::string& machine = "hgx-h100-8") {
  const domain::NodeTopology topology = profile(machine);
  return {{"name", name},
          {"machine", machine},
          {"chips", topology.chip_count()},
          {"free", free},
          {"unhealthy", nlohmann::json::array()},
          {"used", nlohmann::json::object()},
          {"resources", {"nvidia.com/gpu"}},
          {"topology", nlohmann::json::parse(codec::export_topology_json(topology))}};
}

// An item of /api/v1/pods, bound.
inline nlohmann::json live_pod(const std::string& name, const std::string& node,
                               const std::vector<int>& chips) {
  return {{"namespace", "d"}, {"name", name},   {"resource", "nvidia.com/gpu"},
          {"node", node},     {"chips", chips}, {"requested", chips.size()},
          {"state", "bound"}};
}

inline std::vector<codec::NodeView> node_views(const std::vector<nlohmann::json>& nodes) {
  auto read = codec::read_node_views(nlohmann::json{{"items", nodes}}.dump());
  EXPECT_TRUE(read.ok()) << read.error().text();
  return read ? *std::move(read) : std::vector<codec::NodeView>();
}

inline std::vector<codec::PodSummary> pod_summaries(const std::vector<nlohmann::json>& pods) {
  auto read = codec::read_pod_summaries(nlohmann::json{{"items", pods}}.dump());
  EXPECT_TRUE(read.ok()) << read.error().text();
  return read ? *std::move(read) : std::vector<codec::PodSummary>();
}

// A scheduler that only answers GET; every call is kept.
struct ReadOnlyScheduler {
  std::vector<nlohmann::json> nodes, pods, gangs;
  std::vector<std::string> calls;

  Transport transport() {
    return [this](std::string_view method, std::string_view target,
                  std::string_view) -> Result<http::Reply> {
      const std::string path(target.substr(0, target.find('?')));
      calls.push_back(std::string(method) + " " + path);
      const auto ok = [](const std::vector<nlohmann::json>& items) {
        return http::Reply{200, nlohmann::json{{"items", items}}.dump()};
      };
      if (method != "GET") return http::Reply{405, R"({"error":"read only"})"};
      if (path == "/api/v1/nodes") return ok(nodes);
      if (path == "/api/v1/pods") return ok(pods);
      if (path == "/api/v1/gangs") return ok(gangs);
      return http::Reply{404, R"({"error":"no such path"})"};
    };
  }
};

}  // namespace chipweave::cli::test
