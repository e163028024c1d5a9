#include "scheduler-plugin/server/grpc_decode.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"

namespace chipweave::sched {
namespace {

using testing::HasSubstr;

v1::InventoryReport full_proto_report() {
  v1::InventoryReport m;
  m.set_node("n1");
  m.set_boot_id("b1");
  m.set_sequence(7);
  m.mutable_full()->set_machine("box");
  m.mutable_full()->add_resources("nvidia.com/gpu");
  for (int i = 0; i < 2; ++i) {
    v1::Chip& chip = *m.mutable_full()->mutable_topology()->add_chips();
    chip.set_index(i);
    chip.set_health(v1::HEALTH_HEALTHY);
  }
  return m;
}

v1::InventoryReport delta_report() {
  v1::InventoryReport m = full_proto_report();
  v1::ChipHealthChange& chip = *m.mutable_delta()->add_chips();
  chip.set_chip(1);
  chip.set_health(v1::HEALTH_UNHEALTHY);
  v1::LinkLanesChange& link = *m.mutable_delta()->add_links();
  link.set_a(0);
  link.set_b(1);
  link.set_lanes_down(2);
  return m;
}

v1::PodRequest pod_request() {
  v1::PodRequest m;
  m.mutable_pod()->set_namespace_("ns");
  m.mutable_pod()->set_name("p");
  m.set_uid("u1");
  m.set_resource("nvidia.com/gpu");
  m.set_chips(2);
  return m;
}

TEST(DecodeReport, ReadsWhatLinksCarry) {
  v1::InventoryReport m = full_proto_report();
  EXPECT_FALSE(decode_report(m)->carried);
  v1::ChipCarried& one = *m.mutable_full()->mutable_carried()->add_chips();
  one.set_chip(1);
  one.set_gbps(41.5);
  EXPECT_EQ(decode_report(m)->carried, (domain::CarriedPeaks{{domain::ChipIndex{1}, 41.5}}));
  for (const double nonsense : {-1.0, 1e7, std::nan(""), HUGE_VAL}) {
    one.set_gbps(nonsense);
    const auto got = decode_report(m);
    ASSERT_FALSE(got) << nonsense;
    EXPECT_THAT(got.error().text(), HasSubstr("full: carried[0].gbps"));
  }
  one.set_gbps(1);
  one.set_chip(-1);
  EXPECT_FALSE(decode_report(m));
  one.set_chip(1);
  for (int i = 0; i < limits::kMaxChips; ++i) m.mutable_full()->mutable_carried()->add_chips();
  EXPECT_FALSE(decode_report(m));
  v1::InventoryReport delta = delta_report();
  delta.mutable_delta()->mutable_carried();
  ASSERT_TRUE(decode_report(delta)->carried);
  EXPECT_TRUE(decode_report(delta)->carried->empty()) << "no longer measured";
}

TEST(DecodeReport, ReadsAFullReport) {
  const auto got = decode_report(full_proto_report());
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->node, "n1");
  EXPECT_EQ(got->boot_id, "b1");
  EXPECT_EQ(got->sequence, 7U);
  EXPECT_EQ(got->machine, "box");
  EXPECT_EQ(got->resources, std::vector<std::string>{"nvidia.com/gpu"});
  ASSERT_TRUE(got->topology);
  EXPECT_EQ(got->topology->chip_count(), 2);
}

TEST(DecodeReport, ReadsADelta) {
  const auto got = decode_report(delta_report());
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_FALSE(got->topology);
  ASSERT_EQ(got->chips.size(), 1U);
  EXPECT_EQ(got->chips[0].chip.value, 1);
  EXPECT_EQ(got->chips[0].health, domain::Health::unhealthy);
  ASSERT_EQ(got->links.size(), 1U);
  EXPECT_EQ(got->links[0].b.value, 1);
  EXPECT_EQ(got->links[0].lanes_down, 2);
}

TEST(DecodeReport, RefusesWhatCannotBeUsed) {
  struct Case {
    v1::InventoryReport start;
    std::function<void(v1::InventoryReport&)> spoil;
    const char* says;
  };
  const std::vector<Case> cases = {
      {full_proto_report(), [](auto& m) { m.clear_node(); }, "node is missing"},
      {full_proto_report(), [](auto& m) { m.set_node("n1 node"); }, "node may hold"},
      {full_proto_report(), [](auto& m) { m.set_node("n1\nnode"); }, "node has control characters"},
      {full_proto_report(), [](auto& m) { m.set_node(std::string(254, 'n')); }, "node bytes"},
      {full_proto_report(), [](auto& m) { m.clear_boot_id(); }, "boot_id is missing"},
      {full_proto_report(), [](auto& m) { m.set_boot_id(std::string(65, 'b')); }, "boot_id bytes"},
      {full_proto_report(), [](auto& m) { m.clear_body(); }, "body must be"},
      {full_proto_report(), [](auto& m) { m.mutable_heartbeat(); }, "body must be"},
      {full_proto_report(), [](auto& m) { m.mutable_full()->clear_topology(); },
       "full.topology is missing"},
      {full_proto_report(), [](auto& m) { m.mutable_full()->mutable_topology()->clear_chips(); },
       "full.topology: no chips"},
      {full_proto_report(), [](auto& m) { m.mutable_full()->set_machine(std::string(300, 'm')); },
       "full.machine"},
      {full_proto_report(), [](auto& m) { m.mutable_full()->add_resources(""); },
       "full.resources is missing"},
      {full_proto_report(),
       [](auto& m) {
         for (int i = 0; i < 17; ++i) m.mutable_full()->add_resources("x");
       },
       "full.resources: 18"},
      {delta_report(), [](auto& m) { m.mutable_delta()->mutable_chips(0)->clear_health(); },
       "chip 1"},
      {delta_report(), [](auto& m) { m.mutable_delta()->mutable_links(0)->set_b(0); },
       "two different chips"},
      {delta_report(), [](auto& m) { m.mutable_delta()->mutable_links(0)->set_lanes_down(-1); },
       "lanes_down"},
      {delta_report(),
       [](auto& m) {
         for (int i = 0; i < 64; ++i) *m.mutable_delta()->add_chips() = m.delta().chips(0);
       },
       "delta.chips: 65"},
      {delta_report(),
       [](auto& m) {
         for (int i = 0; i < 2016; ++i) *m.mutable_delta()->add_links() = m.delta().links(0);
       },
       "delta.links: 2017"},
      {full_proto_report(), [](auto& m) { m.mutable_full()->mutable_faults()->add_faults(); },
       "full: faults[0].code is missing"},
      {delta_report(),
       [](auto& m) { m.mutable_delta()->mutable_faults()->add_faults()->set_code("a\n"); },
       "delta: faults[0].code has control"},
  };
  for (const Case& c : cases) {
    v1::InventoryReport message = c.start;
    c.spoil(message);
    const auto got = decode_report(message);
    ASSERT_FALSE(got) << c.says;
    EXPECT_THAT(got.error().text(), HasSubstr(c.says));
  }
}

TEST(DecodeRequest, ReadsEverything) {
  v1::PodRequest m = pod_request();
  m.set_distributed(true);
  m.mutable_group()->set_name("job");
  m.mutable_group()->set_replicas(4);
  (*m.mutable_labels())["l"] = "1";
  (*m.mutable_annotations())["a"] = "2";
  const auto got = decode_request(m, PodName::required);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->key.text(), "ns/p");
  EXPECT_EQ(got->uid, "u1");
  EXPECT_EQ(got->chips, 2);
  EXPECT_TRUE(got->distributed);
  ASSERT_TRUE(got->group);
  EXPECT_EQ(got->group->replicas, 4);
  EXPECT_EQ(got->labels.at("l"), "1");
  EXPECT_EQ(got->annotations.at("a"), "2");
}

TEST(DecodeRequest, RefusesWhatCannotBeUsed) {
  struct Case {
    std::function<void(v1::PodRequest&)> spoil;
    const char* says;
  };
  const std::vector<Case> cases = {
      {[](auto& m) { m.clear_pod(); }, "pod.namespace is missing"},
      {[](auto& m) { m.mutable_pod()->clear_name(); }, "pod.name is missing"},
      {[](auto& m) { m.mutable_pod()->set_name(std::string(254, 'p')); }, "pod.name bytes"},
      {[](auto& m) { m.mutable_pod()->set_name("p\n"); }, "pod.name has control characters"},
      {[](auto& m) { m.mutable_pod()->set_namespace_("\x7F"); }, "pod.namespace has control"},
      {[](auto& m) { m.clear_uid(); }, "request.uid is missing"},
      {[](auto& m) { m.clear_resource(); }, "request.resource is missing"},
      {[](auto& m) { m.set_chips(0); }, "between 1 and 64"},
      {[](auto& m) { m.set_chips(65); }, "between 1 and 64"},
      {[](auto& m) { m.set_chips(-3); }, "is -3"},
      {[](auto& m) { m.mutable_group(); }, "request.group.name is missing"},
      {[](auto& m) { m.mutable_group()->set_name("g"); }, "request.group.replicas"},
      {[](auto& m) { (*m.mutable_labels())["l"] = std::string(limits::kMaxAnnotationBytes, 'x'); },
       "request.labels bytes"},
  };
  for (const Case& c : cases) {
    v1::PodRequest message = pod_request();
    c.spoil(message);
    const auto got = decode_request(message, PodName::required);
    ASSERT_FALSE(got) << c.says;
    EXPECT_THAT(got.error().text(), HasSubstr(c.says));
  }
  v1::PodRequest nameless = pod_request();
  nameless.clear_pod();
  nameless.clear_uid();
  EXPECT_TRUE(decode_request(nameless, PodName::optional));
}

// Arbitrary bytes: every message that gRPC parses is either decoded, within the limits, or
// rejected.
TEST(DecodeRequest, SurvivesAnyBytes) {
  std::mt19937 random(1);
  v1::PodRequest whole = pod_request();
  whole.set_distributed(true);
  whole.mutable_group()->set_name("job");
  whole.mutable_group()->set_replicas(4);
  (*whole.mutable_labels())["l"] = "1";
  const std::string good = whole.SerializeAsString();
  v1::InventoryReport faulty = full_proto_report();
  v1::Fault& fault = *faulty.mutable_full()->mutable_faults()->add_faults();
  fault.set_code("xid.79");
  fault.set_chip(1);
  fault.set_text("has fallen off the bus");
  const std::string report = faulty.SerializeAsString() + delta_report().SerializeAsString();
  int messages = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = i % 2 == 0 ? good : report;
    for (unsigned spoiled = 1 + random() % 4; spoiled > 0; --spoiled) {
      const std::size_t at = random() % bytes.size();
      if (random() % 3 == 0) {
        bytes.insert(at, 1, static_cast<char>(random()));
      } else {
        bytes[at] = static_cast<char>(random());
      }
    }
    v1::PodRequest m;
    if (i % 2 == 0 && m.ParseFromString(bytes)) {
      ++messages;
      if (const auto got = decode_request(m, PodName::optional)) {
        EXPECT_TRUE(got->chips >= 1 && got->chips <= limits::kMaxChips);
        EXPECT_LE(got->key.name.size(), limits::kMaxNameBytes);
      }
    }
    v1::InventoryReport r;
    if (i % 2 == 1 && r.ParseFromString(bytes)) {
      ++messages;
      if (const auto got = decode_report(r)) {
        EXPECT_LE(got->chips.size(), static_cast<std::size_t>(limits::kMaxChips));
        if (got->faults) {
          EXPECT_LE(got->faults->size(), domain::kMaxReportedFaults);
        }
      }
    }
  }
  EXPECT_GT(messages, 1000);
}

TEST(DecodeNodes, HasALimit) {
  google::protobuf::RepeatedPtrField<std::string> nodes;
  for (std::size_t i = 0; i < limits::kMaxNodes; ++i) nodes.Add("n" + std::to_string(i));
  ASSERT_TRUE(decode_nodes(nodes));
  EXPECT_EQ(decode_nodes(nodes)->at(3), "n3");
  nodes.Add("one-more");
  ASSERT_FALSE(decode_nodes(nodes));
  EXPECT_EQ(decode_nodes(nodes).error().code, Errc::limit_exceeded);
}

}  // namespace
}  // namespace chipweave::sched
