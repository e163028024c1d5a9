// What an API server answers to an agent.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/domain/topology_builder.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// One chip, of that health.
inline NodeStatePtr state(domain::Health health = domain::Health::healthy) {
  domain::TopologyBuilder b;
  domain::Chip chip;
  chip.health = health;
  b.add_chip(std::move(chip));
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok());
  return std::make_shared<const NodeState>(
      NodeState{"box", {"nvidia.com/gpu"}, std::move(built).value()});
}

inline std::string failure(int code, const std::string& message) {
  return nlohmann::json{{"kind", "Status"}, {"code", code}, {"message", message}}.dump();
}

// sequence 0: nobody has written a status yet.
inline std::string object(const std::string& version, const std::string& boot, int sequence,
                          bool owned = true) {
  nlohmann::json out{{"metadata", {{"uid", "u1"}, {"resourceVersion", version}}}};
  if (owned) out["metadata"]["ownerReferences"] = {{{"kind", "Node"}}};
  if (sequence > 0) out["status"] = {{"bootId", boot}, {"sequence", sequence}};
  return out.dump();
}

const std::string kNode = R"({"metadata":{"uid":"node-uid","resourceVersion":"1"}})";

}  // namespace chipweave::agent
