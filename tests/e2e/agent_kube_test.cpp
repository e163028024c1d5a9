// The built agent with a real API server (scripts/testbed): its NodeInventory and its Lease, also
// when another client changes them. Skipped without a testbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/kube/inventory/inventory_health.hpp"
#include "common/codec/yaml/yaml_tree.hpp"
#include "tests/e2e/agent_process.hpp"
#include "tests/e2e/real_api.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/codec_kube/machines.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kInventories = codec::kInventoryPath;
const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/";
const std::string kEvents = "/apis/events.k8s.io/v1/namespaces/default/events";
const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/";

class AgentInCluster : public test::RealApi {
 protected:
  void SetUp() override {
    RealApi::SetUp();
    if (client_ == nullptr) return;
    install_definition();
    allow_agents();
    remove_node();
    const auto [status, node] = send("POST", "/api/v1/nodes", {{"metadata", {{"name", node_}}}});
    ASSERT_EQ(status, 201) << node.dump();
    node_uid_ = node["metadata"]["uid"];
  }
  void TearDown() override {
    if (client_ == nullptr) return;
    agent_.reset();
    remove_node();
    RealApi::TearDown();
  }
  void remove_node() {
    send("DELETE", kInventories + "/" + node_, {});
    send("DELETE", kLeases + node_, {});
    send("DELETE", "/api/v1/nodes/" + node_, {});
  }

  // Strict: a field that the API server does not know is an error.
  void install_definition() {
    const auto text = test::file_content(
        test::source_path("charts/chipweave/crds/chipweave.dev_nodeinventories.yaml"));
    const auto documents = codec::parse_yaml(text.value());
    Json definition = Json::parse(documents->at(0).tree.document());
    const std::string path = kDefinitions + "/" + definition["metadata"]["name"].get<std::string>();
    // Another test may be doing the same.
    ASSERT_TRUE(eventually([&] {
      if (send("POST", kDefinitions + "?fieldValidation=Strict", definition).first == 201)
        return true;
      definition["metadata"]["resourceVersion"] = shown(path)["metadata"]["resourceVersion"];
      const int status = send("PUT", path + "?fieldValidation=Strict", definition).first;
      definition["metadata"].erase("resourceVersion");
      return status == 200;
    }));
    ASSERT_TRUE(eventually([&] { return send("GET", kInventories, {}).first == 200; }));
    EXPECT_THAT(shown(path)["status"].dump(), Not(HasSubstr("NonStructural")));
  }
  // Exactly the rights in docs/reference/configuration.md, for the testbed's unprivileged user.
  void allow_agents() {
    const auto rule = [](const char* group, const char* resource, Json verbs) {
      return Json{{"apiGroups", {group}}, {"resources", {resource}}, {"verbs", std::move(verbs)}};
    };
    const Json name{{"name", "e2e-agent"}};
    // PUT: an older build of this test may have left other rights in this testbed.
    const auto put = [this](const std::string& kind, const Json& body) {
      EXPECT_THAT(send("PUT", kRbac + kind + "/e2e-agent", body).first, AnyOf(200, 201)) << kind;
    };
    put("clusterroles", {{"metadata", name},
                         {"rules",
                          {rule("", "nodes", {"get", "list", "watch", "patch"}),
                           rule("events.k8s.io", "events", {"create", "patch"}),
                           rule("chipweave.dev", "nodeinventories", {"get", "create", "patch"}),
                           rule("chipweave.dev", "nodeinventories/status", {"update"}),
                           rule("coordination.k8s.io", "leases", {"get", "create", "update"})}}});
    put("clusterrolebindings",
        {{"metadata", name},
         {"roleRef",
          {{"apiGroup", "rbac.authorization.k8s.io"},
           {"kind", "ClusterRole"},
           {"name", "e2e-agent"}}},
         {"subjects",
          {{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "somebody"}}}}});
  }

  void start_agent(const std::string& profile) {
    say_health("{}");
    agent_ = std::make_unique<AgentProcess>(
        std::vector<std::string>{"--node", node_, "--probe", "profile:" + profile, "--kubeconfig",
                                 testbed_ + "/somebody.kubeconfig", "--health-file",
                                 folder_.at("health.json")},
        folder_.at("log"));
  }
  // Atomically, as every watched file should be written.
  void say_health(const std::string& json) {
    std::filesystem::rename(folder_.put("health.new", json), folder_.at("health.json"));
  }

  // Empty while there is none.
  Json shown(const std::string& path) {
    auto [status, object] = send("GET", path, {});
    return status == 200 ? std::move(object) : Json::object();
  }
  Json object() { return shown(kInventories + "/" + node_); }
  // The reasons of the events about the node.
  std::set<std::string> events() {
    std::set<std::string> out;
    const Json list = shown(kEvents);
    for (const Json& event : list.value("items", Json::array()))
      if (event["regarding"].value("name", "") == node_) out.insert(event.value("reason", ""));
    return out;
  }
  // The agent's warnings other than faults.
  std::string warnings() const {
    std::istringstream log(agent_->log());
    std::string out;
    for (std::string line; std::getline(log, line);) {
      const bool fault = line.find("msg=fault ") != std::string::npos;
      if (line.find("level=warn") != std::string::npos && !fault) out += line + "\n";
    }
    return out;
  }
  Json lease() { return shown(kLeases + node_).value("spec", Json::object()); }
  Json status() { return object().value("status", Json::object()); }
  std::string boot() { return status().value("bootId", ""); }
  int unhealthy() { return status().value("unhealthy", -1); }
  std::string renewed() { return lease().value("renewTime", ""); }
  template <class Test>
  static bool eventually(Test test, seconds within = seconds(20)) {
    const auto end = steady_clock::now() + within;
    while (steady_clock::now() < end) {
      if (test()) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  // ctest runs each test as a process of its own, two at a time.
  const std::string node_ =
      "e2e-agent-" + std::to_string(std::hash<std::string>{}(
                         ::testing::UnitTest::GetInstance()->current_test_info()->name()));
  std::string node_uid_;
  io::TempFolder folder_;
  std::unique_ptr<AgentProcess> agent_;
};

TEST_F(AgentInCluster, PublishesWhatItSeesWithinASecondAndLeavesItBehind) {
  start_agent("ascend-910b-16");
  ASSERT_TRUE(eventually([&] { return unhealthy() == 0; })) << agent_->log();
  const auto first = codec::read_inventory_status(status().dump(), node_);
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->sequence, 1);
  EXPECT_EQ(first->machine, "ascend-910b-16");
  EXPECT_EQ(first->topology.chip_count(), 16);
  EXPECT_EQ(object()["metadata"]["ownerReferences"][0]["uid"], node_uid_);

  const auto begun = steady_clock::now();
  say_health(R"({"unhealthy":[3],"network_unhealthy":[5],"down_links":[[0,1]]})");
  ASSERT_TRUE(eventually([&] { return unhealthy() == 2; })) << agent_->log();
  EXPECT_LT(steady_clock::now() - begun, seconds(1));
  const auto second = codec::read_inventory_status(status().dump(), node_);
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(second->boot_id, first->boot_id);
  EXPECT_EQ(second->sequence, 2);
  EXPECT_EQ(second->topology.chip(3).health, domain::Health::unhealthy);
  EXPECT_EQ(second->topology.link(0, 1)->lanes_up(), 0);
  const std::set<std::string> reasons{"ChipUnusable", "ChipNetworkDown", "LinkDown"};
  EXPECT_TRUE(eventually([&] { return events() == reasons; })) << shown(kEvents).dump();

  std::string renewal;
  ASSERT_TRUE(eventually([&] { return !(renewal = renewed()).empty(); })) << agent_->log();
  EXPECT_TRUE(eventually([&] { return renewed() > renewal; })) << agent_->log();
  EXPECT_EQ(lease()["holderIdentity"], first->boot_id);
  EXPECT_LT(agent_->kilobytes(), 30 * 1024);
  RecordProperty("resident_kilobytes", std::to_string(agent_->kilobytes()));

  const auto asked = steady_clock::now();
  EXPECT_EQ(agent_->terminate(), 0);
  EXPECT_LT(steady_clock::now() - asked, seconds(2));
  EXPECT_EQ(warnings(), "");
  EXPECT_EQ(boot(), first->boot_id);
  EXPECT_FALSE(renewed().empty());
}

TEST_F(AgentInCluster, WhatSomebodyDeletesComesBack) {
  start_agent("hgx-v100-8");
  ASSERT_TRUE(eventually([&] { return unhealthy() == 0; })) << agent_->log();
  const std::string first = boot();
  EXPECT_EQ(send("DELETE", kInventories + "/" + node_, {}).first, 200);
  say_health(R"({"unhealthy":[3]})");
  EXPECT_TRUE(eventually([&] { return unhealthy() == 1; })) << agent_->log();

  EXPECT_EQ(send("DELETE", kInventories + "/" + node_, {}).first, 200);
  EXPECT_TRUE(eventually([&] { return unhealthy() == 1; }, seconds(75)))
      << "nothing has changed, so the periodic check must restore it: " << agent_->log();
  EXPECT_EQ(boot(), first);

  EXPECT_EQ(agent_->terminate(), 0);
  start_agent("hgx-v100-8");
  EXPECT_TRUE(eventually([&] { return unhealthy() == 0 && boot() != first; }))
      << "a new boot takes over: " << agent_->log();
}

TEST_F(AgentInCluster, TheInventoryGoesWithItsNode) {
  start_agent("pcie-8");
  ASSERT_TRUE(eventually([&] { return unhealthy() == 0; })) << agent_->log();
  EXPECT_EQ(agent_->terminate(), 0);
  EXPECT_EQ(send("DELETE", "/api/v1/nodes/" + node_, {}).first, 200);
  EXPECT_TRUE(eventually([&] { return send("GET", kInventories + "/" + node_, {}).first == 404; },
                         seconds(100)));
}

TEST_F(AgentInCluster, TheServerKeepsAllThatIsWrittenOfEveryMachine) {
  const auto [created, reply] =
      send("POST", kInventories, Json::parse(codec::write_inventory_object(node_, node_uid_)));
  ASSERT_EQ(created, 201) << reply.dump();
  codec::ObjectVersion version{reply["metadata"]["uid"], reply["metadata"]["resourceVersion"]};
  for (auto& [name, inventory] : codec::all_inventories()) {
    inventory.node = node_;
    const Json written = Json::parse(codec::write_inventory_status(inventory, version));
    const auto [status, stored] =
        send("PUT", kInventories + "/" + node_ + "/status?fieldValidation=Strict", written);
    ASSERT_EQ(status, 200) << name << ": " << stored.dump();
    EXPECT_EQ(stored["status"], written["status"]) << name;
    const auto memory = codec::read_object_memory(stored.dump(), inventory.node_boot_id);
    EXPECT_THAT(memory.problems, testing::IsEmpty()) << name;
    EXPECT_EQ(memory.node.faults.size(), written["status"].value("faults", Json::array()).size())
        << name;
    ASSERT_TRUE(memory.node.topology) << name;
    EXPECT_EQ(memory.node.topology->chip_count(), inventory.topology.chip_count()) << name;
    version.resource_version = stored["metadata"]["resourceVersion"];
  }
}

// The test above depends on the server's validation.
TEST_F(AgentInCluster, TheServerRefusesWhatTheSchemaDoesNotKnow) {
  const auto [created, reply] =
      send("POST", kInventories, Json::parse(codec::write_inventory_object(node_, node_uid_)));
  ASSERT_EQ(created, 201) << reply.dump();
  codec::NodeInventory faulty = codec::faulty_inventory();
  faulty.node = node_;
  const Json good = Json::parse(codec::write_inventory_status(
      faulty, {reply["metadata"]["uid"], reply["metadata"]["resourceVersion"]}));
  const auto refused = [&](const char* at, const Json& value, const std::string& words) {
    Json bad = good;
    bad["status"][Json::json_pointer(at)] = value;
    const auto [status, answer] =
        send("PUT", kInventories + "/" + node_ + "/status?fieldValidation=Strict", bad);
    EXPECT_THAT(status, AnyOf(400, 422)) << at;
    EXPECT_THAT(answer.dump(), HasSubstr(words)) << at;
  };
  refused("/faults/0/blame", "x", "unknown field");
  refused("/faults/0/effect", "bad", "Unsupported value");
  refused("/faults/0/since", "yesterday", "date-time");
  refused("/conditions/1/type", "ChipsHealthy", "Duplicate value");
  refused("/conditions/0/status", "Unknown", "Unsupported value");
  refused("/neighbours/0/rack", "x", "unknown field");
  refused("/facts/driver", 1, "Invalid value");
  refused("/nodeBootId", std::string(200, 'b'), "Too long");
}

}  // namespace
}  // namespace chipweave
