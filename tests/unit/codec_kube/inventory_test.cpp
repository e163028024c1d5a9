// NodeInventory objects and leases as texts.
#include "common/codec/kube/inventory/inventory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"
#include "common/codec/kube/inventory/inventory_health.hpp"
#include "common/codec/kube/objects/lease.hpp"
#include "common/codec/kube/watch.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/codec_kube/machines.hpp"

namespace chipweave::codec {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

const ObjectVersion kVersion{"u1", "42"};

// The status as the API server returns it.
std::string status_of(const NodeInventory& inventory) {
  return Json::parse(write_inventory_status(inventory, kVersion))["status"].dump();
}

TEST(Inventory, WhatIsWrittenReadsBackForEveryProfile) {
  for (const auto& [name, inventory] : all_inventories()) {
    const auto read = read_inventory_status(status_of(inventory), "n1");
    ASSERT_TRUE(read) << name << ": " << read.error().text();
    EXPECT_EQ(read->node, "n1");
    EXPECT_EQ(read->boot_id, "b0");
    EXPECT_EQ(read->sequence, 7);
    EXPECT_EQ(read->machine, "box");
    EXPECT_EQ(read->resources, inventory.resources);
    EXPECT_EQ(export_topology_json(read->topology), export_topology_json(inventory.topology))
        << name;
  }
}

TEST(Inventory, AStatusIsWrittenForOneStateOfOneObjectAndCounted) {
  const auto json = Json::parse(write_inventory_status(inventory_of(everything()), kVersion));
  EXPECT_EQ(json["apiVersion"], "chipweave.dev/v1alpha1");
  EXPECT_EQ(json["kind"], "NodeInventory");
  EXPECT_EQ(json["metadata"], Json::parse(R"({"name":"n1","uid":"u1","resourceVersion":"42"})"));
  EXPECT_EQ(json["status"]["chips"], 4);
  EXPECT_EQ(json["status"]["unhealthy"], 2);
}

TEST(InventoryHealth, SaysWhatIsWrongSinceWhenAndForHowLong) {
  const auto status = Json::parse(status_of(faulty_inventory()));
  EXPECT_EQ(status["nodeBootId"], "5f6b7c1e-0000-4000-8000-000000000001");
  ASSERT_EQ(status["faults"].size(), 256U);
  EXPECT_EQ(status["faults"][0], Json::parse(R"({"code":"xid.79","effect":"unusable","chip":8,
    "port":5,"text":"fallen off the bus","since":"2026-01-02T03:04:05Z",
    "sinceMs":1767323045123,"untilReset":true})"));
  EXPECT_EQ(status["faults"][1]["heldUntil"], "2026-01-02T03:04:15Z");
  EXPECT_EQ(status["faults"][1]["lanes"], 2);
  EXPECT_EQ(status["faults"][1]["part"], "s");
  EXPECT_EQ(status["conditions"][0]["status"], "True");
  EXPECT_EQ(status["conditions"][1]["status"], "False");
  EXPECT_EQ(status["conditions"][1]["lastTransitionTime"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(status["neighbours"][0]["system"], "leaf-1");
  EXPECT_EQ(status["facts"].size(), 256U);
}

TEST(InventoryHealth, IsTheMemoryOfTheNextRun) {
  const std::string object = write_inventory_status(faulty_inventory(), kVersion);
  const auto same = read_object_memory(object, "5f6b7c1e-0000-4000-8000-000000000001");
  EXPECT_THAT(same.problems, testing::IsEmpty());
  EXPECT_TRUE(same.node.same_boot);
  ASSERT_EQ(same.node.faults.size(), 256U);
  EXPECT_EQ(same.node.faults[0].fault, faulty_inventory().faults[0]);
  EXPECT_EQ(same.node.faults[0].chip_id, "");
  EXPECT_EQ(same.node.faults[1].fault.peer, domain::ChipIndex{7});
  EXPECT_EQ(same.node.faults[1].chip_id, "Ascend910-3");
  ASSERT_TRUE(same.node.topology);
  EXPECT_EQ(same.node.topology->chip_count(), faulty_inventory().topology.chip_count());
  EXPECT_EQ(same.node.machine, faulty_inventory().machine);
  EXPECT_EQ(same.node.facts.size(), 256U);
  const auto other = read_object_memory(object, "another-boot");
  EXPECT_FALSE(other.node.same_boot);
  EXPECT_EQ(other.node.faults.size(), 256U) << "orders of operators outlive a boot";
  const auto empty = read_object_memory(write_inventory_object("n1", ""), "b");
  EXPECT_FALSE(empty.node.topology);
  EXPECT_THAT(empty.node.faults, testing::IsEmpty());
  EXPECT_FALSE(read_object_memory(R"({"status":{"nodeBootId":""}})", "").node.same_boot);
}

TEST(InventoryHealth, WhatLinksCarryIsReadWhereItMakesSense) {
  EXPECT_EQ(read_status_details(status_of(faulty_inventory())).carried, faulty_inventory().carried);
  const auto read = read_status_details(
      R"({"carried":[7,{"chip":1},{"chip":-1,"gbps":2},{"chip":2,"gbps":-1},{"chip":3,"gbps":1e9},)"
      R"({"chip":4,"gbps":"5"},{"chip":5,"gbps":6.5},{"chip":5,"gbps":7}]})");
  EXPECT_EQ(read.carried, (domain::CarriedPeaks{{domain::ChipIndex{5}, 6.5}}));
  for (const char* status : {"{}", "", R"({"carried")", R"({"carried":{}})", R"(["carried"])"}) {
    EXPECT_TRUE(read_status_details(status).carried.empty()) << status;
  }
}

TEST(InventoryHealth, WhoHasWhichChipsIsReadWhereItMakesSense) {
  EXPECT_EQ(read_status_details(status_of(faulty_inventory())).given, faulty_inventory().given);
  EXPECT_EQ(read_status_details(status_of(faulty_inventory())).enforcement,
            domain::Enforcement::device_plugin);
  NodeInventory none = inventory_of(everything());
  none.given = domain::GivenChips();
  EXPECT_EQ(read_status_details(status_of(none)).given, domain::GivenChips()) << "nobody has any";
  EXPECT_FALSE(read_status_details(status_of(inventory_of(everything()))).given) << "not known";
  const auto read = read_status_details(
      R"({"given":{"unknownDevices":-3,"containers":[7,{},{"podUid":"u"},{"chips":[1]},)"
      R"({"podUid":"u1","chips":[2,1,2]},{"podUid":"u2","chips":[-1]},{"podUid":"u3","chips":"1"},)"
      R"({"pod":"p","namespace":"ns","chips":[0],"parts":"yes"}]}})");
  ASSERT_TRUE(read.given);
  EXPECT_EQ(read.given->unknown_devices, 0);
  ASSERT_EQ(read.given->containers.size(), 2U);
  EXPECT_EQ(read.given->containers[0].pod, "p");
  EXPECT_FALSE(read.given->containers[0].parts);
  EXPECT_EQ(read.given->containers[1].pod_uid, "u1");
  EXPECT_EQ(read.given->containers[1].chips,
            (std::vector{domain::ChipIndex{1}, domain::ChipIndex{2}}));
  for (const char* status : {"{}", "", R"({"given")", R"({"given":[]})", R"(["given"])"}) {
    EXPECT_FALSE(read_status_details(status).given) << status;
  }
}

TEST(InventoryHealth, TheGateIsThatOfADevicePluginThatEnforces) {
  NodeInventory inventory = inventory_of(everything());
  inventory.gate_open = true;
  EXPECT_FALSE(read_status_details(status_of(inventory)).gate_open) << "nobody enforces";
  EXPECT_EQ(status_of(inventory).find("\"gate\""), std::string::npos);
  inventory.enforcement = domain::Enforcement::device_plugin;
  EXPECT_TRUE(read_status_details(status_of(inventory)).gate_open);
  inventory.gate_open = false;
  EXPECT_NE(status_of(inventory).find(R"("gate":"closed")"), std::string::npos);
  EXPECT_FALSE(read_status_details(status_of(inventory)).gate_open);
  for (const char* gate : {R"("ajar")", "true", "null", R"("Open")"}) {
    EXPECT_FALSE(
        read_status_details(R"({"enforcement":"device-plugin","gate":)" + std::string(gate) + "}")
            .gate_open)
        << gate;
  }
  EXPECT_FALSE(read_status_details(R"({"enforcement":"device-plugin"})").gate_open);
}

// One part that cannot be read does not take the others with it.
TEST(InventoryHealth, RemembersWhatCanBeRead) {
  const auto memory = read_object_memory(
      R"({"status":{"nodeBootId":"b","machine":7,"topology":{"chips":"none"},"facts":[],)"
      R"("faults":[{"code":"cordoned","effect":"unusable","chip":2,"sinceMs":1}]}})",
      "b");
  EXPECT_TRUE(memory.node.same_boot);
  ASSERT_EQ(memory.node.faults.size(), 1U);
  EXPECT_FALSE(memory.node.topology);
  ASSERT_EQ(memory.problems.size(), 1U);
  EXPECT_THAT(memory.problems[0], HasSubstr("status.topology"));
  EXPECT_THAT(read_object_memory("{", "b").problems, testing::SizeIs(1));
}

TEST(InventoryHealth, FaultsAndFactsAreReadFromAStatusOfAnyBoot) {
  const auto read = read_status_health(status_of(faulty_inventory()));
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->faults.size(), 256U);
  EXPECT_EQ(read->faults[0], faulty_inventory().faults[0]);
  EXPECT_EQ(read->facts.size(), 256U);
  EXPECT_TRUE(read_status_health("{}")->faults.empty());
  EXPECT_TRUE(read_status_health(R"({"facts":{"a":1}})")->facts.empty());
  EXPECT_FALSE(read_status_health(R"({"faults":7})").ok());
  EXPECT_FALSE(read_status_health("{").ok());
}

TEST(InventoryHealth, FaultsAloneAreReadWithTheTimeThatTheyAreHeldUntil) {
  const auto read = read_status_details(status_of(faulty_inventory())).faults;
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->size(), 256U);
  EXPECT_EQ(read->at(0), faulty_inventory().faults[0]);
  EXPECT_EQ(read->at(1).held_until, 1767323055000) << "in whole seconds";
  EXPECT_TRUE(read_status_details("no JSON, but nothing is said of them").faults->empty());
  EXPECT_TRUE(read_status_details(R"({"facts":{"a":"\"faults\""}})").faults->empty());
  EXPECT_FALSE(read_status_details(R"({"faults":7})").faults.ok());
  EXPECT_FALSE(read_status_details(R"({"faults":)").faults.ok());
}

TEST(InventoryHealth, FaultsThatSomebodySpoiltAreAnErrorThatNamesThePlace) {
  const auto problem = [](const char* faults) {
    const auto read = read_object_memory(
        std::string(R"({"status":{"nodeBootId":"b","faults":)") + faults + "}}", "b");
    return read.problems.empty() ? "read" : read.problems.front();
  };
  EXPECT_EQ(problem("[]"), "read");
  EXPECT_THAT(problem("7"), HasSubstr("status.faults: expected a list, got 7"));
  EXPECT_THAT(problem("[7]"), HasSubstr("status.faults[0]"));
  EXPECT_THAT(problem(R"([{"effect":"note","sinceMs":1}])"),
              HasSubstr("faults[0].code: is missing"));
  EXPECT_THAT(problem(R"([{"code":"a","effect":"note","sinceMs":-1}])"), HasSubstr("sinceMs"));
  EXPECT_THAT(problem(R"([{"code":"a","effect":"note","sinceMs":1,"chip":-4}])"),
              HasSubstr("faults[0].chip"));
}

TEST(Inventory, AnObjectBelongsToItsNodeIfThatIsKnown) {
  const std::string owner =
      R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":"node-uid",)"
      R"("blockOwnerDeletion":false}])";
  const std::string head =
      R"({"apiVersion":"chipweave.dev/v1alpha1","kind":"NodeInventory","metadata":{"name":"n1")";
  EXPECT_EQ(write_inventory_object("n1", "node-uid"), head + "," + owner + "}}");
  EXPECT_EQ(write_inventory_object("n1", ""), head + "}}");
  EXPECT_EQ(write_inventory_owner("n1", "node-uid", kVersion),
            R"({"metadata":{"uid":"u1","resourceVersion":"42",)" + owner + "}}");
}

// What the error of a status says, with one key replaced (null: removed).
std::string complaint(const char* key, const Json& value) {
  Json status = Json::parse(status_of(inventory_of(everything())));
  if (value.is_null()) {
    status.erase(key);
  } else {
    status[key] = value;
  }
  const auto read = read_inventory_status(status.dump(), "n1");
  return read ? "none" : read.error().text();
}

TEST(Inventory, ErrorsNameTheKey) {
  EXPECT_EQ(complaint("bootId", nullptr), "status.bootId: is missing");
  EXPECT_EQ(complaint("bootId", ""), "status.bootId: must have 1 to 128 bytes");
  EXPECT_EQ(complaint("bootId", std::string(129, 'b')), "status.bootId: must have 1 to 128 bytes");
  EXPECT_THAT(complaint("bootId", 7), HasSubstr("status.bootId: expected a string, got 7"));
  EXPECT_EQ(complaint("sequence", nullptr), "status.sequence: is missing");
  EXPECT_THAT(complaint("sequence", 0), HasSubstr("status.sequence: must be 1 to"));
  EXPECT_THAT(complaint("sequence", 1.5),
              HasSubstr("status.sequence: expected an integer, got 1.5"));
  EXPECT_THAT(complaint("machine", std::string(limits::kMaxFactBytes + 1, 'm')),
              HasSubstr("status.machine: has 1025 bytes"));
  EXPECT_EQ(complaint("resources", nullptr), "status.resources: is missing");
  EXPECT_THAT(complaint("resources", Json::array()), HasSubstr("status.resources: must name"));
  EXPECT_THAT(complaint("resources", std::vector<int>(17, 1)),
              HasSubstr("status.resources: 17 entries, at most 16"));
  EXPECT_THAT(complaint("resources", {"a/b", ""}), HasSubstr("status.resources[1]: must be"));
  EXPECT_THAT(complaint("resources", {std::string(254, 'r')}), HasSubstr("status.resources[0]"));
  EXPECT_EQ(complaint("topology", nullptr), "status.topology: is missing");
  EXPECT_THAT(complaint("topology", "text"),
              HasSubstr("status.topology: expected an object, got a string"));
  EXPECT_THAT(complaint("topology", {{"chips", {{{"index", -1}}}}}),
              HasSubstr("status.topology: chips[0].index: must be 0 to"));
}

TEST(Inventory, WhatANewerAgentSaysBesidesIsPassedOver) {
  EXPECT_EQ(complaint("temperature", {{"chips", {40, 41}}}), "none");
  EXPECT_EQ(complaint("chips", "counts are for people"), "none");
}

TEST(Inventory, WhatIsNoStatusIsRefused) {
  const auto says = [](const std::string& text) {
    return read_inventory_status(text, "n1").error().text();
  };
  EXPECT_THAT(says(""), HasSubstr("status: not valid JSON"));
  EXPECT_EQ(says("null"), "status: expected an object, got null");
  EXPECT_THAT(says(R"({"bootId":"a","bootId":"b"})"), HasSubstr("appears twice"));
  EXPECT_THAT(says(std::string(100, '[')), HasSubstr("nested deeper"));
  const std::string large(limits::kMaxKubeObjectBytes + 1, ' ');
  const auto read = read_inventory_status(large, "n1");
  EXPECT_EQ(read.error().code, Errc::limit_exceeded);
  EXPECT_EQ(read.error().text(), "status: larger than 8 MiB");
}

TEST(StoredObject, VersionOwnerAndLastWriterAreRead) {
  std::string body =
      R"({"kind":"NodeInventory","metadata":{"name":"n1","uid":"u1","resourceVersion":"9",)"
      R"("ownerReferences":[{"kind":"Node"}],"labels":{"a":"b"}},)"
      R"("status":{"bootId":"b1","sequence":3,"topology":{"chips":[]}}})";
  auto read = read_stored_object(body);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->version.uid, "u1");
  EXPECT_EQ(read->version.resource_version, "9");
  EXPECT_EQ(read->owners.size(), 1U);
  EXPECT_EQ(read->boot_id, "b1");
  EXPECT_EQ(read->sequence, 3);

  body = R"({"metadata":{"uid":"u1","resourceVersion":"9","ownerReferences":[]}})";
  read = read_stored_object(body);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->owners.empty());
  EXPECT_EQ(read->boot_id, "");
  EXPECT_EQ(read->sequence, 0);
}

TEST(StoredObject, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"metadata":{"uid":"u1"}})", R"({"metadata":{"uid":7}})",
        R"({"metadata":{"uid":"u1","resourceVersion":"9"},"status":{"sequence":"x"}})",
        R"({"metadata":{"uid":"u1","resourceVersion":"9"},"status":{"sequence":1e9}})",
        R"({"metadata":{"uid":"u1","resourceVersion":"9"}} and more)"}) {
    std::string body = text;
    EXPECT_FALSE(read_stored_object(body)) << text;
  }
}

TEST(Lease, TimesHaveMicroseconds) {
  AgentLease lease;
  lease.ns = "chipweave";
  lease.name = "n1";
  lease.holder = "b1";
  lease.acquired = ManualClock().wall();
  lease.renewed = lease.acquired + std::chrono::microseconds(1'000'042);
  EXPECT_EQ(lease_path("chipweave"), "/apis/coordination.k8s.io/v1/namespaces/chipweave/leases");
  const std::string spec =
      R"("labels":{"chipweave.dev/component":"agent"}},"spec":{"holderIdentity":"b1",)"
      R"("leaseDurationSeconds":30,"acquireTime":"2026-01-02T03:04:05.000000Z",)"
      R"("renewTime":"2026-01-02T03:04:06.000042Z"}})";
  const std::string head = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
                           R"("metadata":{"name":"n1","namespace":"chipweave",)";
  EXPECT_EQ(write_lease(lease), head + spec);
  lease.resource_version = "8";
  EXPECT_EQ(write_lease(lease), head + R"("resourceVersion":"8",)" + spec);
}

TEST(Lease, OfALeaderIsReadBack) {
  LeaderLease lease;
  lease.ns = "chipweave";
  lease.name = "s";
  lease.holder = "h\"1";
  lease.resource_version = "8";
  lease.duration = std::chrono::seconds(3);
  lease.acquired = ManualClock().wall();
  lease.renewed = lease.acquired + std::chrono::microseconds(1'000'042);
  lease.transitions = 7;
  std::string text = write_lease(lease);
  EXPECT_EQ(text,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
            R"("metadata":{"name":"s","namespace":"chipweave","resourceVersion":"8",)"
            R"("labels":{"chipweave.dev/component":"scheduler"}},"spec":{"holderIdentity":"h\"1",)"
            R"("leaseDurationSeconds":3,"acquireTime":"2026-01-02T03:04:05.000000Z",)"
            R"("renewTime":"2026-01-02T03:04:06.000042Z","leaseTransitions":7}})");
  WatchReader<KubeLease> reader;
  const auto read = reader.read_one(text);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->ns, "chipweave");
  EXPECT_EQ(read->name, "s");
  EXPECT_EQ(read->resource_version, "8");
  EXPECT_EQ(read->holder, "h\"1");
  EXPECT_EQ(read->duration_seconds, 3);
  EXPECT_EQ(read->transitions, 7);
}

}  // namespace
}  // namespace chipweave::codec
