#include "tests/fakes/agent/api_answers.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/domain/topology_builder.hpp"

namespace chipweave::agent {

NodeStatePtr state(domain::Health health) {
  domain::TopologyBuilder b;
  domain::Chip chip;
  chip.health = health;
  b.add_chip(std::move(chip));
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok());
  return std::make_shared<const NodeState>(
      NodeState{"box", {"nvidia.com/gpu"}, std::move(built).value()});
}

std::string failure(int code, const std::string& message) {
  return nlohmann::json{{"kind", "Status"}, {"code", code}, {"message", message}}.dump();
}

std::string object(const std::string& version, const std::string& boot, int sequence, bool owned) {
  nlohmann::json out{{"metadata", {{"uid", "u1"}, {"resourceVersion", version}}}};
  if (owned) out["metadata"]["ownerReferences"] = {{{"kind", "Node"}}};
  if (sequence > 0) out["status"] = {{"bootId", boot}, {"sequence", sequence}};
  return out.dump();
}

}  // namespace chipweave::agent
