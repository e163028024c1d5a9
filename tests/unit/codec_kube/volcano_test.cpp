// The reader with bodies that a real vc-scheduler sent, and with malformed ones.
#include "common/codec/kube/requests/volcano.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"
#include "common/codec/json/stream_reader.hpp"
#include "tests/unit/codec_kube/captures.hpp"

namespace chipweave::codec {
namespace {

using Json = nlohmann::json;

bool nobody(const VolcanoTask&) { return false; }
bool everybody(const VolcanoTask&) { return true; }

TEST(VolcanoCapture, Predicate) {
  REQUIRE_CAPTURE(body, "volcano-predicate.json");
  const Json sent = Json::parse(body);
  VolcanoReader reader;
  VolcanoTask task;
  VolcanoNode node;
  ASSERT_TRUE(reader.read_predicate(body, nobody, task, node).ok());
  EXPECT_EQ(node.name, sent["node"]["Name"]);
  EXPECT_EQ(node.idle_of("example.com/npu"),
            sent["node"]["Idle"]["ScalarResources"]["example.com/npu"].get<double>());
  EXPECT_GT(node.idle_of("example.com/npu"), 0);
  EXPECT_EQ(node.idle_of("nvidia.com/gpu"), 0);
  EXPECT_EQ(task.uid, sent["task"]["UID"]);
  EXPECT_EQ(task.name, sent["task"]["Name"]);
  EXPECT_EQ(task.ns, "default");
  EXPECT_EQ(task.node, "");
  EXPECT_EQ(task.status, VolcanoTask::kPending);
  ASSERT_TRUE(task.pod_read);
  EXPECT_EQ(task.pod.uid, task.uid);
  EXPECT_EQ(count_resource(task.pod, "example.com/npu").value(), 8);
  EXPECT_EQ(task.pod.labels.at("volcano.sh/job-name"),
            sent["task"]["Pod"]["metadata"]["labels"]["volcano.sh/job-name"]);
}

TEST(VolcanoCapture, AKnownPodIsSteppedOver) {
  REQUIRE_CAPTURE(body, "volcano-predicate.json");
  const Json sent = Json::parse(body);
  VolcanoReader reader;
  VolcanoTask task;
  VolcanoNode node;
  const auto known = [&](const VolcanoTask& t) {
    return t.ns == "default" && t.name == sent["task"]["Name"] && t.uid == sent["task"]["UID"];
  };
  ASSERT_TRUE(reader.read_predicate(body, known, task, node).ok());
  EXPECT_FALSE(task.pod_read);
  EXPECT_EQ(node.name, sent["node"]["Name"]);
}

TEST(VolcanoCapture, Prioritize) {
  REQUIRE_CAPTURE(body, "volcano-prioritize.json");
  const Json sent = Json::parse(body);
  VolcanoReader reader;
  VolcanoTask task;
  std::vector<std::string_view> nodes;
  ASSERT_TRUE(reader.read_prioritize(body, everybody, task, nodes).ok());
  ASSERT_EQ(nodes.size(), sent["nodes"].size());
  ASSERT_GT(nodes.size(), 1U);
  for (std::size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(nodes[i], sent["nodes"][i]["Name"]);
}

TEST(VolcanoCapture, PrioritizeOfNoNodes) {
  REQUIRE_CAPTURE(body, "volcano-prioritize-null-nodes.json");
  VolcanoReader reader;
  VolcanoTask task;
  std::vector<std::string_view> nodes{"left over"};
  ASSERT_TRUE(reader.read_prioritize(body, nobody, task, nodes).ok());
  EXPECT_TRUE(nodes.empty());
  EXPECT_EQ(task.name, "rj-worker-0");
}

TEST(VolcanoCapture, Events) {
  struct Row {
    const char* file;
    std::int64_t status;
  };
  for (const Row& row : {Row{"volcano-allocate.json", VolcanoTask::kAllocated},
                         Row{"volcano-deallocate.json", VolcanoTask::kPending}}) {
    REQUIRE_CAPTURE(body, row.file);
    const Json sent = Json::parse(body);
    VolcanoReader reader;
    VolcanoTask task;
    ASSERT_TRUE(reader.read_event(body, nobody, task).ok()) << row.file;
    EXPECT_EQ(task.status, sent["task"]["Status"]);
    EXPECT_EQ(task.status, row.status);
    EXPECT_EQ(task.node, sent["task"]["NodeName"]);
    EXPECT_FALSE(task.node.empty());
  }
}

TEST(VolcanoCapture, EvicteesAreRepeatedAsSent) {
  for (const char* file : {"volcano-preemptable.json", "volcano-reclaimable.json"}) {
    REQUIRE_CAPTURE(body, file);
    const Json sent = Json::parse(body);
    VolcanoReader reader;
    VolcanoTask evictor;
    std::vector<VolcanoEvictee> evictees;
    ASSERT_TRUE(reader.read_eviction(body, nobody, evictor, evictees).ok()) << file;
    EXPECT_EQ(evictor.uid, sent["evictor"]["UID"]);
    ASSERT_EQ(evictees.size(), sent["evictees"].size());
    ASSERT_FALSE(evictees.empty());
    for (std::size_t i = 0; i < evictees.size(); ++i) {
      EXPECT_EQ(evictees[i].uid, sent["evictees"][i]["UID"]);
      EXPECT_EQ(evictees[i].node, sent["evictees"][i]["NodeName"]);
      EXPECT_EQ(Json::parse(evictees[i].text), sent["evictees"][i]);
    }
  }
}

TEST(VolcanoReader, TakesKeysInAnyOrderAndCase) {
  std::string body =
      R"({"node":{"Tasks":{"x":{"Name":"not this"}},"name":"n1"},"TASK":{"Pod":{"metadata":
         {"name":"p","namespace":"a","uid":"u"}},"UID":"u","Name":"p","Namespace":"a","Status":1}})";
  VolcanoReader reader;
  VolcanoTask task;
  VolcanoNode node;
  ASSERT_TRUE(reader.read_predicate(body, nobody, task, node).ok());
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(task.uid, "u");
  EXPECT_TRUE(task.pod_read) << "the pod is not known before";
}

TEST(VolcanoReader, SaysWhatIsWrong) {
  VolcanoReader reader;
  VolcanoTask task;
  VolcanoNode node;
  const auto complaint = [&](std::string body) {
    const auto read = reader.read_predicate(body, nobody, task, node);
    return read ? std::string("taken") : read.error().text();
  };
  const std::string good_task = R"({"UID":"u","Name":"p","Namespace":"a","Status":1})";
  EXPECT_EQ(complaint(R"({"task":)" + good_task + R"(,"node":{"Name":"n"}})"), "taken");
  const auto expect = [&](const std::string& body, const std::string& part) {
    const std::string message = complaint(body);
    EXPECT_NE(message.find(part), std::string::npos) << body << " -> " << message;
  };
  expect("", "not valid JSON");
  expect("[]", "not valid JSON");
  expect(std::string(json_stream::kMaxPunctuation + 1, '['), "brackets, commas and colons");
  expect("{\"x\":\"" + std::string(json_stream::kMaxPunctuation, 'x') + "\"}", "task is missing");
  expect("{}", "task is missing");
  expect(R"({"task":null,"node":{"Name":"n"}})", "task is missing");
  expect(R"({"task":)" + good_task + "}", "node is missing");
  expect(R"({"task":)" + good_task + R"(,"node":{}})", "node.Name must be given");
  expect(R"({"task":)" + good_task + R"(,"node":{"Name":7}})", "node.Name must be a string");
  expect(R"({"task":)" + good_task + R"(,"node":{"Name":"n"})", "not valid JSON");
  expect(R"({"task":)" + good_task + R"(,"node":{"Name":"n"}} {})", "text after the end");
  expect(R"({"task":)" + good_task + R"(,"node":{"Name":"n","Idle":{"ScalarResources":[]}}})",
         "node.Idle.ScalarResources must be an object");
  expect(R"({"task":{"UID":1},"node":{"Name":"n"}})", "task.UID must be a string");
  expect(R"({"task":{"UID":"u"},"node":{"Name":"n"}})", "task.UID and task.Name");
  expect(R"({"task":{"UID":"u","Name":"p","Status":"2"},"node":{"Name":"n"}})",
         "task.Status must be a whole number");
  expect(R"({"task":{"UID":"u","Name":"p","Status":2.5},"node":{"Name":"n"}})",
         "task.Status must be a whole number");
  expect(R"({"task":{"UID":")" + std::string(300, 'u') + R"(","Name":"p"}})", "longer than 253");
  expect(R"({"task":{"UID":"u","Name":"p","Pod":{"spec":{"containers":7}}}})", "spec.containers");
}

TEST(VolcanoReader, RefusesMoreNodesThanThereMayBe) {
  std::string body = R"({"task":{"UID":"u","Name":"p"},"nodes":[)";
  for (std::size_t i = 0; i <= limits::kMaxNodes; ++i) {
    body += (i > 0 ? "," : "") + std::string(R"({"Name":"n)") + std::to_string(i) + "\"}";
  }
  body += "]}";
  VolcanoReader reader;
  VolcanoTask task;
  std::vector<std::string_view> nodes;
  const auto read = reader.read_prioritize(body, nobody, task, nodes);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text().find("more nodes"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::codec
