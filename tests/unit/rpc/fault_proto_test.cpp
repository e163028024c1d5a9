#include "common/rpc/fault_proto.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include "scheduler-plugin/server/grpc_decode.hpp"

namespace chipweave::rpc {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;
using testing::HasSubstr;

Fault gpu_lost() {
  Fault out;
  out.code = "nvml.lost";
  out.effect = Effect::unusable;
  out.chip = ChipIndex{3};
  out.text = "has fallen off the bus";
  out.since = 1795338842113;
  out.held_until = domain::kHeldUntilReset;
  return out;
}

Fault every_field() {
  Fault out;
  out.code = "link.down";
  out.effect = Effect::link;
  out.chip = ChipIndex{0};
  out.peer = ChipIndex{4};
  out.port = 7;
  out.part = "nvswitch";
  out.lanes = 2;
  out.text = "\xC3\xBC";
  out.since = 1;
  out.held_until = 1795338842113;
  return out;
}

TEST(FaultProto, ReadsBackWhatWasWritten) {
  Fault network = gpu_lost();
  network.effect = Effect::network;
  Fault note;
  note.code = "nic.flap";
  note.part = "mlx5_0";
  const std::vector<Fault> faults = {gpu_lost(), network, every_field(), note};
  const auto got = from_proto(to_proto(faults));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(*got, faults);
}

TEST(FaultProto, WhatIsSentIsAlwaysAccepted) {
  Fault wild = every_field();
  wild.code = std::string(1000, 'c');
  wild.part = "a\nb\x1B[2J";
  // The last byte that fits is within a character.
  wild.text = "\xFF" + std::string(251, 'x') + "\xE2\x82\xAC\xE2\x82\xAC";
  wild.since = -5;
  wild.held_until = INT64_MAX;
  const std::string bytes = to_proto(std::vector<Fault>(1000, wild)).SerializeAsString();
  v1::FaultList list;
  ASSERT_TRUE(list.ParseFromString(bytes)) << "not UTF-8";
  const auto got = from_proto(list);
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ(got->size(), domain::kMaxReportedFaults);
  EXPECT_EQ(got->front().part, "a?b?[2J");
  EXPECT_EQ(got->front().since, 0);
  EXPECT_EQ(got->front().held_until, domain::kLatestFaultTime);
  EXPECT_LE(got->front().text.size(), domain::kMaxFaultTextBytes);
}

TEST(FaultProto, RefusesWhatCannotBeUsedAndNamesIt) {
  struct Case {
    std::function<void(v1::Fault&)> spoil;
    const char* says;
  };
  const std::vector<Case> cases = {
      {[](auto& f) { f.clear_code(); }, "faults[1].code is missing"},
      {[](auto& f) { f.set_code(std::string(257, 'c')); },
       "faults[1].code bytes: 257, at most 256"},
      {[](auto& f) { f.set_code("a\x1B"); }, "faults[1].code has control characters"},
      {[](auto& f) { f.set_part("a\n"); }, "faults[1].part has control characters"},
      {[](auto& f) { f.set_text("a\x7F"); }, "faults[1].text has control characters"},
      {[](auto& f) { f.set_text(std::string(257, 't')); }, "faults[1].text bytes: 257"},
      {[](auto& f) { f.set_chip(-1); }, "faults[1].chip is -1, must be between 0 and"},
      {[](auto& f) { f.set_chip(1 << 21); }, "faults[1].chip is 2097152"},
      {[](auto& f) { f.set_peer(-1); }, "faults[1].peer"},
      {[](auto& f) { f.set_port(-1); }, "faults[1].port"},
      {[](auto& f) { f.set_lanes(1025); }, "faults[1].lanes is 1025"},
      {[](auto& f) { f.set_since_unix_ms(-1); }, "faults[1].since_unix_ms"},
      {[](auto& f) { f.set_held_until_unix_ms(INT64_MAX); }, "faults[1].held_until_unix_ms"},
  };
  for (const Case& c : cases) {
    v1::FaultList list = to_proto({gpu_lost(), every_field()});
    c.spoil(*list.mutable_faults(1));
    const auto got = from_proto(list);
    ASSERT_FALSE(got) << c.says;
    EXPECT_THAT(got.error().text(), HasSubstr(c.says));
  }
  v1::FaultList many = to_proto(std::vector<Fault>(256, gpu_lost()));
  *many.add_faults() = many.faults(0);
  EXPECT_THAT(from_proto(many).error().text(), HasSubstr("faults: 257, at most 256"));
}

TEST(FaultProto, AnEffectOfAnotherVersionIsANote) {
  v1::FaultList list = to_proto({gpu_lost()});
  list.mutable_faults(0)->set_effect(static_cast<v1::FaultEffect>(77));
  EXPECT_EQ(from_proto(list)->front().effect, Effect::note);
  list.mutable_faults(0)->clear_effect();
  EXPECT_EQ(from_proto(list)->front().effect, Effect::note);
}

v1::InventoryReport full_report() {
  v1::InventoryReport m;
  m.set_node("n1");
  m.set_boot_id("b1");
  m.set_sequence(1);
  v1::Chip& chip = *m.mutable_full()->mutable_topology()->add_chips();
  chip.set_index(3);
  chip.set_health(v1::HEALTH_UNHEALTHY);
  return m;
}

// Messages of versions that did not report faults: today's without those fields.
class FormerVersion {
 public:
  FormerVersion() {
    google::protobuf::FileDescriptorProto topology;
    v1::NodeTopology::descriptor()->file()->CopyTo(&topology);
    google::protobuf::FileDescriptorProto inventory;
    v1::InventoryReport::descriptor()->file()->CopyTo(&inventory);
    for (auto& message : *inventory.mutable_message_type()) {
      auto& fields = *message.mutable_field();
      fields.erase(std::remove_if(fields.begin(), fields.end(),
                                  [](const auto& field) {
                                    return field.type_name() == ".chipweave.v1.FaultList";
                                  }),
                   fields.end());
    }
    pool_.BuildFile(topology);
    const auto* file = pool_.BuildFile(inventory);
    report_ = file->FindMessageTypeByName("InventoryReport");
  }
  // A message as a program of that version passes it on.
  std::string read_and_written(const v1::InventoryReport& m) {
    const std::unique_ptr<google::protobuf::Message> old(factory_.GetPrototype(report_)->New());
    EXPECT_TRUE(old->ParseFromString(m.SerializeAsString()));
    old->DiscardUnknownFields();
    return old->SerializeAsString();
  }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::Descriptor* report_ = nullptr;
};

TEST(FaultProto, FormerVersionsUnderstandAndAreUnderstood) {
  FormerVersion former;
  v1::InventoryReport with = full_report();
  *with.mutable_full()->mutable_faults() = to_proto({gpu_lost()});
  v1::InventoryReport only_faults = full_report();
  *only_faults.mutable_delta()->mutable_faults() = to_proto({gpu_lost()});
  v1::InventoryReport without = full_report();

  // An old scheduler reads a new report as one without faults; a new scheduler reads the report of
  // an old agent the same way.
  v1::InventoryReport old;
  ASSERT_TRUE(old.ParseFromString(former.read_and_written(with)));
  EXPECT_EQ(old.SerializeAsString(), without.SerializeAsString());
  const auto full = sched::decode_report(old);
  ASSERT_TRUE(full) << full.error().text();
  EXPECT_FALSE(full->faults);
  ASSERT_TRUE(old.ParseFromString(former.read_and_written(only_faults)));
  const auto delta = sched::decode_report(old);
  ASSERT_TRUE(delta) << delta.error().text();
  EXPECT_TRUE(!delta->topology && !delta->faults && delta->chips.empty() && delta->links.empty());

  const auto now = sched::decode_report(with);
  ASSERT_TRUE(now && now->faults);
  EXPECT_EQ(*now->faults, std::vector<Fault>{gpu_lost()});
}

}  // namespace
}  // namespace chipweave::rpc
