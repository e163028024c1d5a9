// DLRover's node-topology-config, in ConfigMaps of an API server in memory.
#include "scheduler-plugin/kube/network/dlrover_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/codec/network/import.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/sched_network/network_world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string map_of(const std::string& ns) {
  return "/api/v1/namespaces/" + ns + "/configmaps/node-topology-config";
}

class DlroverTopologies : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, block, rack, address] :
         std::vector<std::array<const char*, 4>>{{"n1", "b1", "r1", "10.0.0.1"},
                                                 {"n2", "b1", "r1", "10.0.0.2"},
                                                 {"n3", "b1", "r2", "10.0.0.3"},
                                                 {"n4", "b2", "r1", "10.0.0.4"}})
      add(name, block, rack, address);
    w_.settle();
    start();
  }
  void add(const std::string& name, const std::string& block, const std::string& rack,
           const std::string& address) {
    w_.add(name, block, rack);
    addresses_[name] = address;
    if (topology_) topology_->set_address(name, address);
  }
  // As a new process.
  void start(std::size_t max_bytes = DlroverTopology::kMaxBytes) {
    DlroverTopology::Ways ways;
    ways.fence = [] { return std::function<bool()>(); };
    ways.failed = [this](const std::string& why) { failures_.push_back(why); };
    topology_ = std::make_unique<DlroverTopology>(api_, w_.clock, w_.network, namespaces_,
                                                  std::move(ways), max_bytes);
    for (const auto& [node, address] : addresses_) topology_->set_address(node, address);
  }
  void pass(milliseconds time = seconds(12)) {
    for (milliseconds left = time; left.count() > 0; left -= seconds(1)) {
      w_.network.tick(w_.clock.now());
      topology_->tick(term_);
      api_.advance(seconds(1));
    }
  }
  std::string lines(const std::string& ns = "team") {
    const auto at = api_.objects.find(map_of(ns));
    return at == api_.objects.end() ? "none" : at->second["data"].value("topology_config", "");
  }

  NetworkWorld w_;
  agent::FakeApi api_{w_.clock};
  std::vector<std::string> namespaces_{"team", "other"};
  std::map<std::string, std::string> addresses_;
  std::vector<std::string> failures_;
  std::optional<std::uint64_t> term_ = 1;
  std::unique_ptr<DlroverTopology> topology_;
};

constexpr const char* kLines =
    "b1.r1 b1 10.0.0.1\nb1.r1 b1 10.0.0.2\nr2 b1 10.0.0.3\nb2.r1 b2 10.0.0.4\n";

TEST_F(DlroverTopologies, AreWrittenAsTheGoldenFileInEachNamespace) {
  pass();
  Json made = api_.objects[map_of("team")];
  for (const char* key : {"uid", "resourceVersion", "generation", "creationTimestamp"})
    made["metadata"].erase(key);
  const auto golden = chipweave::test::file_content(
      chipweave::test::source_path("tests/unit/sched_kube/golden") + "/node-topology-config.json");
  ASSERT_TRUE(golden);
  EXPECT_EQ(made.dump(2) + "\n", *golden);
  EXPECT_EQ(lines("team"), kLines);
  EXPECT_EQ(lines("other"), kLines);
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(DlroverTopologies, CanBeImportedAgain) {
  pass();
  const auto read = codec::import_network(lines(), {});
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->table.nodes.size(), 4U);
  EXPECT_EQ(read->table.nodes[3].path, (std::vector<std::string>{"b2", "b2.r1"}));
}

TEST_F(DlroverTopologies, FollowTheNetworkAndTheAddresses) {
  pass();
  add("n5", "b2", "r9", "10.0.0.5");
  pass();
  EXPECT_THAT(lines(), HasSubstr("r9 b2 10.0.0.5\n"));
  topology_->set_address("n5", "10.0.0.55");
  pass();
  EXPECT_THAT(lines(), HasSubstr("r9 b2 10.0.0.55\n"));
  topology_->node_gone("n5");
  pass();
  EXPECT_EQ(lines(), kLines);
  EXPECT_EQ(lines("other"), kLines);
}

TEST_F(DlroverTopologies, AQuietNetworkIsNotWrittenAgain) {
  pass();
  const std::string version = api_.objects[map_of("team")]["metadata"]["resourceVersion"];
  pass(minutes(20));
  EXPECT_EQ(api_.objects[map_of("team")]["metadata"]["resourceVersion"], version);
  start();
  pass();
  EXPECT_EQ(api_.objects[map_of("team")]["metadata"]["resourceVersion"], version)
      << "nor by the next process";
}

TEST_F(DlroverTopologies, TheOneOfDlroversChartIsTakenOver) {
  api_.put(map_of("team"), Json{{"metadata", {{"uid", "u0"}, {"labels", {{"release", "dlrover"}}}}},
                                {"data", {{"topology_config", ""}, {"another", "kept"}}}});
  pass();
  EXPECT_EQ(lines(), kLines);
  EXPECT_EQ(api_.objects[map_of("team")]["data"]["another"], "kept");
  EXPECT_EQ(api_.objects[map_of("team")]["metadata"]["labels"]["release"], "dlrover");
}

TEST_F(DlroverTopologies, NodesWithoutAPlaceOrAnAddressAreLeftOut) {
  w_.report("unplaced");
  addresses_["unplaced"] = "10.0.0.9";
  w_.add("no-address", "b1", "r1");
  start();
  pass();
  EXPECT_EQ(lines(), kLines);
}

TEST_F(DlroverTopologies, ANetworkWithoutLevelsIsNotWritten) {
  NetworkWorld flat;
  flat.report("n1");
  DlroverTopology::Ways ways;
  ways.fence = [] { return std::function<bool()>(); };
  DlroverTopology topology(api_, flat.clock, flat.network, {"team"}, std::move(ways));
  topology.set_address("n1", "10.0.0.1");
  for (int i = 0; i < 3; ++i) topology.tick(1);
  api_.advance(seconds(1));
  EXPECT_THAT(api_.log, IsEmpty());
}

TEST_F(DlroverTopologies, AStandbyWritesNothingAndANewTermLooksAgain) {
  term_.reset();
  pass();
  EXPECT_THAT(api_.log, IsEmpty());
  term_ = 2;
  pass();
  EXPECT_EQ(lines(), kLines);
  api_.objects.erase(map_of("team"));
  term_ = 3;
  pass();
  EXPECT_EQ(lines(), kLines);
}

TEST_F(DlroverTopologies, WhatTheFormatCannotHoldIsReportedOnce) {
  add("n5", "b2", "rack 9", "10.0.0.5");
  pass();
  pass();
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("\"rack 9\" has blanks or a #")));
  EXPECT_EQ(lines(), "none");
}

TEST_F(DlroverTopologies, TooManyLinesAreNotWritten) {
  start(30);
  pass();
  EXPECT_THAT(failures_, ElementsAre("the lines of all nodes would have more than 30 bytes"));
  EXPECT_EQ(lines(), "none");
}

}  // namespace
}  // namespace chipweave::sched::test
