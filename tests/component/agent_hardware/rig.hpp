// Rig — a scheduler without a cluster and an agent on a machine with the fake NVIDIA driver, whose
// "hardware" follows the scenario file.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/http/client.hpp"
#include "tests/component/agent_hardware/program.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {

class Rig {
 public:
  using Json = nlohmann::json;

  Rig();
  // Replaces the scenario as a whole, atomically.
  void play(const Json& scenario) const;
  // Starts an agent of this machine; more: further flags.
  std::unique_ptr<Program> agent(const std::string& node, std::vector<std::string> more = {}) const;
  std::vector<std::string> agent_words(const std::string& node,
                                       std::vector<std::string> more = {}) const;

  // An agent of a machine without a driver, of which it sees the bus below host/.
  std::unique_ptr<Program> agent_on_bus(const std::string& node,
                                        std::vector<std::string> more = {}) const;

  // The scheduler's view of a node; null if the node is unknown.
  Json node(const std::string& name);
  // The same without ages and times.
  Json timeless_node(const std::string& name);
  std::vector<int> unhealthy(const std::string& name);
  // The chips that a pod of that size gets now on that node, by filter, prioritize and bind; the
  // pod is deleted again. nullopt: none.
  std::optional<std::vector<int>> decide(const std::string& node, int chips,
                                         const std::string& resource = "nvidia.com/gpu");
  // What the scheduler explains about a pod of that size; the pod is deleted again.
  Json explain(int chips);
  // All metrics of an agent started with metrics(); "" if it does not answer.
  std::string metrics_page() const;
  // One of them; -1 if there is no such metric.
  double metric(const std::string& line) const;
  static std::vector<std::string> metrics(const io::TempFolder& folder) {
    return {"--metrics", "127.0.0.1:0", "--port-file", folder.at("agent-port")};
  }

  const io::TempFolder& folder() const { return folder_; }
  // For the programs' tests: a policy that holds no faults.
  std::string policy_without_holds() const;

 private:
  Json call(const char* method, const std::string& target, const Json& body = nullptr);
  Json submit(int chips, const std::string& resource = "nvidia.com/gpu");

  io::TempFolder folder_;
  std::unique_ptr<Program> scheduler_;
  std::optional<http::Client> http_;
  std::string grpc_;
  int pods_ = 0;
};

}  // namespace chipweave
