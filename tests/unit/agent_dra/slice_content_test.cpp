// The ResourceSlices of a node: what they say, and how stored ones get there.
#include "node-agent/dra/slices/slice_content.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <nlohmann/json.hpp>

#include "node-agent/dra/offered_devices.hpp"
#include "node-agent/dra/slices/exclusion.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/agent_dra/machine.hpp"

namespace chipweave::agent::dra {
namespace {

using codec::ResourceSlice;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

const PoolOptions kPool{kDriver, kNode, true, false};

std::vector<ResourceSlice> wanted_for(const NodeState& state, const PoolOptions& options = kPool) {
  return slices_of(pool_devices(state, options, FakeHost()), options, "node-uid");
}

TEST(SliceContent, AsGolden) {
  std::vector<ResourceSlice> slices = wanted_for(two_islands({5}));
  ASSERT_EQ(slices.size(), 1U);
  slices[0].generation = 1;
  EXPECT_EQ(Json::parse(codec::write_resource_slice(slices[0])),
            Json::parse(*test::file_content(
                test::source_path("tests/unit/agent_dra/golden/resource-slice.json"))));
}

TEST(SliceContent, ReadsBackAsWritten) {
  ResourceSlice slice = wanted_for(two_islands({5}))[0];
  slice.generation = 3;
  slice.version = {"s-uid", "17"};
  slice.devices[0].attributes["flag"] = true;
  const auto read = codec::read_resource_slice(codec::write_resource_slice(slice));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->devices, slice.devices);
  EXPECT_EQ(read->generation, 3);
  EXPECT_EQ(read->slice_count, 1);
  EXPECT_EQ(read->owner_uid, "node-uid");
  EXPECT_EQ(read->version.resource_version, "17");
  EXPECT_FALSE(read->other_content);
}

TEST(SliceContent, IslandsAreChipsThatReachOneAnother) {
  EXPECT_THAT(fabric_islands(two_islands().topology), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  domain::TopologyBuilder builder;
  builder.vendor = "nvidia";
  for (int i = 0; i < 4; ++i) builder.add_chip(bare_chip(i));
  builder.add_link({0}, {2}, domain::LinkKind::nvlink, 2, std::nullopt, 2);  // all lanes down
  builder.add_switch("s", domain::LinkKind::nvswitch, {{{1}, 1, 0}, {{3}, 1, 0}, {{2}, 1, 1}});
  EXPECT_THAT(fabric_islands(std::move(builder).build().value()), ElementsAre(0, 1, 2, 1));
}

TEST(SliceContent, LeavesOutWhatNoAttributeCanHold) {
  NodeState state = two_islands();
  state.machine = std::string(65, 'm');
  PoolOptions options = kPool;
  options.node = std::string(70, 'n');
  const auto device = pool_devices(state, options, FakeHost())[4];
  EXPECT_FALSE(device.attributes.contains("chipweave.dev/machine"));
  EXPECT_EQ(std::get<std::string>(device.attributes.at("chipweave.dev/nvlinkIsland")), "1");
}

TEST(SliceContent, EvictsOnlyWhereItIsWanted) {
  PoolOptions options{kDriver, kNode, false, false};
  const auto effect = [&] {
    return pool_devices(two_islands({5}), options, FakeHost())[5].taints.at(0);
  };
  EXPECT_EQ(effect(), (codec::DeviceTaint{kUnhealthyTaint, "true", "NoSchedule", ""}));
  options.evict = true;
  EXPECT_EQ(effect(), (codec::DeviceTaint{kUnhealthyTaint, "true", "NoExecute", ""}));
  EXPECT_THAT(pool_devices(two_islands({5}), options, FakeHost())[4].taints, IsEmpty());
}

TEST(SliceContent, IsSplitAtTheLimitsOfKubernetes) {
  std::vector<codec::DriverDevice> devices(200);
  for (std::size_t i = 0; i < devices.size(); ++i) devices[i].name = "gpu-" + std::to_string(i);
  const auto sizes = [&] {
    std::vector<std::size_t> out;
    for (const ResourceSlice& slice : slices_of(devices, kPool, "u")) {
      EXPECT_EQ(slice.slice_count, devices[0].taints.empty() ? 2 : 4);
      out.push_back(slice.devices.size());
    }
    return out;
  };
  EXPECT_THAT(sizes(), ElementsAre(128, 72));
  devices[0].taints.push_back({"k", "v", "NoSchedule", ""});
  EXPECT_THAT(sizes(), ElementsAre(64, 64, 64, 8));
  EXPECT_THAT(slices_of({}, kPool, "u"), IsEmpty());
  PoolOptions options = kPool;
  options.node = std::string(250, 'n');
  EXPECT_EQ(slices_of(devices, options, "u")[0].name, "node-u-gpu.chipweave.dev-0");
}

TEST(BytesQuantity, IsCanonical) {
  EXPECT_EQ(codec::bytes_quantity(std::uint64_t{80} << 30U), "80Gi");
  EXPECT_EQ(codec::bytes_quantity(std::uint64_t{81559} << 20U), "81559Mi");
  EXPECT_EQ(codec::bytes_quantity(0), "");
}

// What the API server keeps.
class SliceShelf {
 public:
  void apply(SliceWrite write) {
    std::erase_if(slices, [&](const ResourceSlice& each) { return each.name == write.slice.name; });
    if (write.kind == SliceWrite::Kind::remove) return;
    write.slice.version = {"u", std::to_string(++version_)};
    slices.push_back(std::move(write.slice));
  }
  // What an allocator sees: the pool is complete if it has all slices of the highest generation.
  bool complete() const {
    std::int64_t highest = 0;
    for (const ResourceSlice& each : slices) highest = std::max(highest, each.generation);
    std::int64_t count = 0;
    std::int64_t stated = 0;
    for (const ResourceSlice& each : slices) {
      if (each.generation != highest) continue;
      ++count;
      stated = each.slice_count;
    }
    return count == stated;
  }
  std::vector<ResourceSlice> slices;

 private:
  int version_ = 0;
};

// Pools change at any moment, attempts end at any moment, others delete and edit slices; each time
// the pool ends as wanted, with one generation, and a pool that looks complete on the way is never
// a mixture of two contents.
TEST(SliceWrites, GetThereFromAnywhere) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SliceShelf shelf;
    std::vector<ResourceSlice> wanted;
    for (int change = 0; change < 4; ++change) {
      std::vector<codec::DriverDevice> devices(random() % 4 * 60);
      for (std::size_t i = 0; i < devices.size(); ++i) {
        devices[i].name = "gpu-" + std::to_string(i);
        devices[i].attributes["content"] = std::int64_t{change};
      }
      wanted = slices_of(devices, kPool, "u");
      if (!shelf.slices.empty() && random() % 4 == 0) shelf.slices.pop_back();
      if (!shelf.slices.empty() && random() % 4 == 0) shelf.slices[0].devices.clear();
      const auto steps = change == 3 ? 1000U : random() % 4;
      std::int64_t before = 0;
      for (unsigned step = 0; step < steps; ++step) {
        const auto write = next_write(shelf.slices, wanted, false);
        if (!write) break;
        ASSERT_GE(write->slice.generation, write->kind == SliceWrite::Kind::remove ? 0 : before);
        if (write->kind != SliceWrite::Kind::remove) before = write->slice.generation;
        shelf.apply(*write);
        if (!shelf.complete()) continue;
        std::int64_t highest = 0;
        for (const ResourceSlice& each : shelf.slices) highest = std::max(highest, each.generation);
        std::set<std::int64_t> contents;
        for (const ResourceSlice& each : shelf.slices) {
          if (each.generation != highest) continue;
          for (const auto& device : each.devices)
            contents.insert(std::get<std::int64_t>(device.attributes.at("content")));
        }
        ASSERT_LE(contents.size(), 1U);
      }
    }
    ASSERT_EQ(shelf.slices.size(), wanted.size());
    ASSERT_FALSE(next_write(shelf.slices, wanted, false));
    std::set<std::int64_t> generations;
    for (const ResourceSlice& each : shelf.slices) generations.insert(each.generation);
    ASSERT_LE(generations.size(), 1U);
    ASSERT_TRUE(shelf.complete());
  }
}

TEST(SliceWrites, MendWhatOthersHaveChanged) {
  const auto wanted = wanted_for(two_islands());
  const auto rewritten = [&](const auto& change) {
    SliceShelf shelf;
    shelf.apply(*next_write({}, wanted, false));
    change(shelf.slices[0]);
    const auto write = next_write(shelf.slices, wanted, false);
    return write && write->kind == SliceWrite::Kind::update && write->slice.generation == 2;
  };
  EXPECT_FALSE(rewritten([](ResourceSlice&) {}));
  EXPECT_TRUE(rewritten([](ResourceSlice& slice) { slice.slice_count = 2; }));
  EXPECT_TRUE(rewritten([](ResourceSlice& slice) { slice.pool = "other"; }));
  EXPECT_TRUE(rewritten([](ResourceSlice& slice) { slice.owner_uid = "of a former Node"; }));
  EXPECT_TRUE(rewritten([](ResourceSlice& slice) { slice.other_content = true; }));
  EXPECT_TRUE(rewritten([](ResourceSlice& slice) { slice.devices[3].taints.clear(); }));
  EXPECT_TRUE(rewritten([](ResourceSlice& slice) { slice.devices[3].capacity.clear(); }));
}

TEST(SliceWrites, KeepTheTimeOfATaint) {
  const auto wanted = wanted_for(two_islands({5}));
  SliceShelf shelf;
  shelf.apply(*next_write({}, wanted, false));
  shelf.slices[0].devices[0].taints[0].time_added = "2026-01-02T03:04:05Z";
  EXPECT_FALSE(next_write(shelf.slices, wanted, false));
  const auto write = next_write(shelf.slices, wanted_for(two_islands()), false);
  ASSERT_TRUE(write);
  EXPECT_EQ(write->slice.generation, 2);
  EXPECT_EQ(write->slice.devices[0].taints[0].time_added, "2026-01-02T03:04:05Z");
}

TEST(Exclusion, OfDriversAndPluginsWithTheSameChips) {
  const NodeState state = two_islands();
  codec::NodeFacts node{"u", {{"nvidia.com/gpu", 0}, {"example.com/disk", 3}}};
  const auto conflict = [&](const std::string& driver, const std::string& attribute,
                            const std::string& value) {
    ResourceSlice slice;
    slice.driver = driver;
    slice.devices.push_back({"theirs-0", {{attribute, value}}, {}, {}});
    return conflict_on_node(state, kDriver, {slice}, node);
  };
  EXPECT_EQ(conflict_on_node(state, kDriver, {}, node), "");
  EXPECT_EQ(conflict(kDriver, "uuid", "GPU-00000003"), "");
  EXPECT_EQ(conflict("nic.example.com", "resource.kubernetes.io/pciBusID", "0000:05:00.0"), "");
  EXPECT_EQ(conflict("gpu.amd.com", "uuid", "x"), "");
  EXPECT_THAT(conflict("gpu.nvidia.com", "type", "gpu"), HasSubstr("gpu.nvidia.com"));
  EXPECT_THAT(conflict("gpu.example.com", "uuid", "gpu-00000003"), HasSubstr("device theirs-0"));
  EXPECT_THAT(conflict("gpu.example.com", "resource.kubernetes.io/pciBusID", "0000:07:00.0"),
              HasSubstr("gpu.example.com"));
  node.allocatable["nvidia.com/gpu"] = 8;
  EXPECT_THAT(conflict_on_node(state, kDriver, {}, node), HasSubstr("as nvidia.com/gpu"));
  node.allocatable = {{"amd.com/gpu", 8}};
  EXPECT_EQ(conflict_on_node(state, kDriver, {}, node), "");
}

TEST(NodeFacts, AreTheUidAndWholeResources) {
  const auto facts = codec::read_node_facts(
      R"({"metadata":{"uid":"u"},"status":{"allocatable":{"cpu":"8","memory":"1Gi","nvidia.com/gpu":"8","a.b/c":"1k"}}})");
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->allocatable, (std::map<std::string, std::int64_t>{{"nvidia.com/gpu", 8}}));
  EXPECT_FALSE(codec::read_node_facts("{}").ok());
}

}  // namespace
}  // namespace chipweave::agent::dra
