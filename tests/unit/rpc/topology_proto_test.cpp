#include "common/rpc/topology_proto.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::rpc {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using testing::HasSubstr;

// Every field set to a non-default value.
domain::NodeTopology odd_machine() {
  domain::TopologyBuilder b;
  b.vendor = "ascend";
  b.model = "Ascend910B";
  b.p2p = false;
  b.host_bandwidth = domain::HostBandwidth{6, 5, 4, 3, 2, 1};
  b.rule = domain::PlacementRule{domain::RuleKind::ascend_a3, 2};
  b.super_pod = domain::SuperPod{"sp-7", 3};
  for (const int i : {2, 5, 9}) {
    domain::Chip c;
    c.index = ChipIndex{i};
    c.id = "chip-" + std::to_string(i);
    c.model = "m" + std::to_string(i);
    c.pci = "0000:0" + std::to_string(i) + ":00.0";
    c.numa = i % 2;
    c.memory_bytes = 64ULL << 30U;
    c.device_ips = {"192.0.2." + std::to_string(i), "fe80::1"};
    c.physical_id = 0;
    c.logical_id = i + 1;
    c.super_device_id = 4000000000U;
    c.health = i == 5 ? domain::Health::network_unhealthy : domain::Health::healthy;
    b.add_chip(std::move(c));
  }
  b.add_link(ChipIndex{2}, ChipIndex{5}, LinkKind::sio, 7, 3.25, 2);
  b.add_link(ChipIndex{5}, ChipIndex{9}, LinkKind::pix);
  b.add_switch("sw", LinkKind::hccs, {{ChipIndex{2}, 4, 1}, {ChipIndex{9}, 3, 0}}, 11.5);
  b.add_nic("mlx5_0", "0000:81:00.0", 1, 50, {{ChipIndex{5}, LinkKind::pxb}});
  b.add_partition({ChipIndex{2}, ChipIndex{9}});
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok());
  return std::move(built).value();
}

std::string json_of(const domain::NodeTopology& t) { return codec::export_topology_json(t); }

TEST(TopologyProto, KeepsEveryField) {
  const domain::NodeTopology machine = odd_machine();
  const auto back = from_proto(to_proto(machine));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(json_of(*back), json_of(machine));
  const domain::Chip& chip = back->chip(1);
  EXPECT_EQ(chip.index.value, 5);
  EXPECT_EQ(chip.physical_id, 0);
  EXPECT_EQ(chip.logical_id, 6);
  EXPECT_EQ(chip.super_device_id, 4000000000U);
  EXPECT_EQ(chip.health, domain::Health::network_unhealthy);
  EXPECT_EQ(chip.device_ips.size(), 2U);
  ASSERT_NE(back->link(0, 1), nullptr);
  EXPECT_EQ(back->link(0, 1)->lanes_down, 2);
  EXPECT_EQ(back->link(0, 1)->gbps_per_lane, 3.25);
  EXPECT_EQ(back->host_path(1, 2), LinkKind::pix);
  EXPECT_EQ(back->switches().at(0).ports.at(0).lanes_down, 1);
  EXPECT_EQ(back->nics().at(0).paths.at(1), LinkKind::pxb);
  EXPECT_EQ(back->partitions().size(), 1U);
  EXPECT_FALSE(back->p2p());
  EXPECT_EQ(back->host_bandwidth().sys, 1);
  EXPECT_EQ(back->rule().kind, domain::RuleKind::ascend_a3);
  ASSERT_TRUE(back->super_pod());
  EXPECT_EQ(back->super_pod()->server_index, 3);
}

TEST(TopologyProto, KeepsEveryProfile) {
  ASSERT_FALSE(profiles::all().empty());
  for (const profiles::Profile& profile : profiles::all()) {
    const auto machine = codec::import_topology_json(profile.json, {});
    ASSERT_TRUE(machine) << profile.name;
    // Through bytes, as between two programs.
    v1::NodeTopology parsed;
    ASSERT_TRUE(parsed.ParseFromString(to_proto(machine->topology).SerializeAsString()));
    const auto back = from_proto(parsed);
    ASSERT_TRUE(back) << profile.name << ": " << back.error().text();
    EXPECT_EQ(json_of(*back), json_of(machine->topology)) << profile.name;
  }
}

TEST(TopologyProto, AnUnknownNumaNodeStaysUnknown) {
  domain::TopologyBuilder b;
  b.add_chip({});
  const auto machine = std::move(b).build();
  ASSERT_TRUE(machine);
  const v1::NodeTopology message = to_proto(*machine);
  EXPECT_FALSE(message.chips(0).has_numa());
  const auto back = from_proto(message);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->chip(0).numa, -1);
}

struct Hostile {
  const char* name;
  std::function<void(v1::NodeTopology&)> spoil;
  Errc code;
  const char* says;
};

TEST(TopologyProto, RefusesHostileMessages) {
  const std::string huge(100000, 'x');
  const std::vector<Hostile> cases = {
      {"nothing", [](auto& m) { m.Clear(); }, Errc::invalid_argument, "no chips"},
      {"65 chips",
       [](auto& m) {
         for (int i = 10; m.chips_size() < 65; ++i)
           *m.add_chips() = m.chips(0), m.mutable_chips(m.chips_size() - 1)->set_index(i);
       },
       Errc::limit_exceeded, "65"},
      {"self link", [](auto& m) { m.mutable_links(0)->set_b(2); }, Errc::invalid_argument,
       "itself"},
      {"unknown chip", [](auto& m) { m.mutable_links(0)->set_b(77); }, Errc::invalid_argument,
       "77"},
      {"negative index", [](auto& m) { m.mutable_chips(0)->set_index(-1); }, Errc::invalid_argument,
       "negative"},
      {"same index twice", [](auto& m) { m.mutable_chips(0)->set_index(5); },
       Errc::invalid_argument, "two chips"},
      {"NaN rate", [](auto& m) { m.mutable_links(0)->set_gbps_per_lane(std::nan("")); },
       Errc::invalid_argument, "gbps_per_lane"},
      {"infinite rate",
       [](auto& m) {
         m.mutable_switches(0)->set_gbps_per_lane(std::numeric_limits<double>::infinity());
       },
       Errc::invalid_argument, "gbps_per_lane"},
      {"NaN host rate", [](auto& m) { m.mutable_host_bandwidth()->set_sys(std::nan("")); },
       Errc::invalid_argument, "host_gbps"},
      {"NaN NIC rate", [](auto& m) { m.mutable_nics(0)->set_gbps(std::nan("")); },
       Errc::invalid_argument, "gbps"},
      {"no lanes", [](auto& m) { m.mutable_links(0)->set_lanes(0); }, Errc::invalid_argument,
       "lanes"},
      {"too many lanes", [](auto& m) { m.mutable_links(0)->set_lanes(2000000000); },
       Errc::invalid_argument, "lanes"},
      {"more down than there are", [](auto& m) { m.mutable_links(0)->set_lanes_down(8); },
       Errc::invalid_argument, "down"},
      {"huge id", [&](auto& m) { m.mutable_chips(0)->set_id(huge); }, Errc::limit_exceeded,
       "chips[0].id"},
      {"huge model", [&](auto& m) { m.set_model(huge); }, Errc::limit_exceeded, "model"},
      {"huge NIC name", [&](auto& m) { m.mutable_nics(0)->set_name(huge); }, Errc::limit_exceeded,
       "nics[0].name"},
      {"many addresses",
       [](auto& m) {
         for (int i = 0; i < 1000; ++i) m.mutable_chips(0)->add_device_ips("192.0.2.1");
       },
       Errc::limit_exceeded, "device_ips"},
      {"many links",
       [](auto& m) {
         for (int i = 0; i < 100000; ++i) *m.add_links() = m.links(0);
       },
       Errc::limit_exceeded, "links"},
      {"many ports",
       [](auto& m) {
         for (int i = 0; i < 65; ++i) m.mutable_switches(0)->add_ports()->set_chip(2);
       },
       Errc::limit_exceeded, "switches[0].ports"},
      {"many partitions",
       [](auto& m) {
         for (int i = 0; i < 5000; ++i) m.add_partitions()->add_chips(2);
       },
       Errc::limit_exceeded, "partitions"},
      {"host path as link", [](auto& m) { m.mutable_links(0)->set_kind(v1::LINK_KIND_PIX); },
       Errc::invalid_argument, "links[0].kind"},
      {"link as host path", [](auto& m) { m.mutable_host_paths(0)->set_kind(v1::LINK_KIND_HCCS); },
       Errc::invalid_argument, "host_paths[0].kind"},
      {"unspecified kind", [](auto& m) { m.mutable_links(0)->clear_kind(); },
       Errc::invalid_argument, "links[0].kind"},
      {"kind of the future",
       [](auto& m) { m.mutable_links(0)->set_kind(static_cast<v1::LinkKind>(99)); },
       Errc::invalid_argument, "links[0].kind"},
      {"no health", [](auto& m) { m.mutable_chips(0)->clear_health(); }, Errc::invalid_argument,
       "chips[0].health"},
      {"unknown rule", [](auto& m) { m.mutable_rule()->set_kind("best"); }, Errc::invalid_argument,
       "rule"},
      {"group of 0", [](auto& m) { m.mutable_rule()->set_group_size(0); }, Errc::invalid_argument,
       "group"},
      {"partition of nobody", [](auto& m) { m.add_partitions(); }, Errc::invalid_argument,
       "partitions[1]"},
  };
  for (const Hostile& h : cases) {
    v1::NodeTopology message = to_proto(odd_machine());
    h.spoil(message);
    const auto got = from_proto(message);
    ASSERT_FALSE(got) << h.name;
    EXPECT_EQ(got.error().code, h.code) << h.name << ": " << got.error().text();
    EXPECT_THAT(got.error().text(), HasSubstr(h.says)) << h.name;
    EXPECT_LT(got.error().text().size(), 4000U) << h.name;
  }
}

}  // namespace
}  // namespace chipweave::rpc
