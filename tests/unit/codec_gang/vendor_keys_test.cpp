#include "common/codec/gang/vendor_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec {
namespace {

using domain::AscendServer;
using domain::kNoLevel;
using domain::TorNetwork;
using domain::TorSchema;
using domain::TorState;
using domain::TorUse;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<std::string> kLevels{"pod", "ub", "rack", "leaf", "clique"};

domain::VendorJob read(const std::string& text, JsonProblems& problems) {
  const Result<JsonTree> tree = parse_json(R"({"gang":{"vendor":)" + text + "}}");
  EXPECT_TRUE(tree) << tree.error().text();
  return read_vendor_keys(JsonValue(*tree)["gang"]["vendor"], kLevels, problems);
}
domain::VendorJob keys(const std::string& text) {
  JsonProblems problems;
  domain::VendorJob out = read(text, problems);
  EXPECT_FALSE(problems.any()) << problems.error().text();
  return out;
}
std::string vendor_keys_problem(const std::string& text) {
  JsonProblems problems;
  read(text, problems);
  return problems.any() ? problems.error().text() : "";
}

TEST(VendorKeys, ReadsWhatAscendsUsersWrite) {
  const domain::VendorJob read =
      keys(R"({"ascend":{"server":"950","node_chips":8,"sp_block":32,"super_pod_level":"pod",)"
           R"("reserve_nodes":3,"super_pod_size":40,"affinity":"soft","ra_block":16,)"
           R"("rack_level":"rack","ub_memory":true,"ub_level":"ub"}})");
  ASSERT_TRUE(read.ascend);
  EXPECT_EQ(read.ascend->server, AscendServer::a5_950);
  EXPECT_EQ(read.ascend->node_chips, 8);
  EXPECT_EQ(read.ascend->sp_block, 32);
  EXPECT_EQ(read.ascend->reserve_nodes, 3);
  EXPECT_EQ(read.ascend->super_pod_size, 40);
  EXPECT_TRUE(read.ascend->soft);
  EXPECT_EQ(read.ascend->ra_block, 16);
  EXPECT_TRUE(read.ascend->ub_memory);
  EXPECT_EQ(read.levels, (domain::VendorLevels{0, 2, 1, 3, kNoLevel}));
  EXPECT_FALSE(read.tor);
  EXPECT_FALSE(read.nvlink);
}

TEST(VendorKeys, WhatIsNotSaidStaysOpen) {
  const domain::VendorJob read = keys(R"({"ascend":{}})");
  ASSERT_TRUE(read.ascend);
  EXPECT_FALSE(read.ascend->server);
  EXPECT_FALSE(read.ascend->sp_block);
  EXPECT_FALSE(read.ascend->reserve_nodes);
  EXPECT_FALSE(read.ascend->soft);
  EXPECT_EQ(read.levels.super_pod, kNoLevel);  // the table has no level "pod"
  EXPECT_EQ(read.levels.rack, 2);
  EXPECT_FALSE(keys("{}").ascend);
}

TEST(VendorKeys, ReadsTorAffinity) {
  const domain::VendorJob read =
      keys(R"({"tor":{"level":"rack","schema":"large-model-schema","nslb_version":"2.0",)"
           R"("shared_tor_num":1,"tor_count":4,"states":{"t0":"exclusive","t1":"shared",)"
           R"("t2":"shared-unhealthy","t3":"shared-normal","t4":"free"}}})");
  ASSERT_TRUE(read.tor);
  EXPECT_EQ(read.levels.leaf, 2);
  EXPECT_EQ(read.tor->schema, TorSchema::large_model);
  EXPECT_EQ(read.tor->network, TorNetwork::nslb_2);
  EXPECT_EQ(read.tor->shared_tors, 1);
  EXPECT_EQ(read.tor->leaf_nodes, 4);
  EXPECT_EQ(read.tor->states.at("t0"), (TorState{TorUse::exclusive}));
  EXPECT_EQ(read.tor->states.at("t1"), (TorState{TorUse::shared}));
  EXPECT_EQ(read.tor->states.at("t2"), (TorState{TorUse::shared, false}));
  EXPECT_EQ(read.tor->states.at("t3"), (TorState{TorUse::shared, true, false}));
  EXPECT_EQ(read.tor->states.at("t4"), TorState{});
}

TEST(VendorKeys, TorDefaultsAreTheStockOnes) {
  const domain::VendorJob read = keys(R"({"tor":{"schema":"normal-schema"}})");
  ASSERT_TRUE(read.tor);
  EXPECT_EQ(read.tor->network, TorNetwork::nslb_1);
  EXPECT_EQ(read.tor->shared_tors, 2);
  EXPECT_EQ(read.tor->leaf_nodes, 0);
  EXPECT_EQ(read.levels.leaf, 3);
  EXPECT_EQ(keys(R"({"tor":{"schema":"null"}})").tor->schema, TorSchema::none);
  EXPECT_EQ(keys(R"({"tor":{"schema":"null","tor_level":"single_layer","nslb_version":"2.0"}})")
                .tor->network,
            TorNetwork::single_layer);
}

TEST(VendorKeys, ReadsNvlinkDomains) {
  const domain::VendorJob read = keys(R"({"nvl_domain_level":"clique"})");
  ASSERT_TRUE(read.nvlink);
  EXPECT_FALSE(read.nvlink->segment);
  EXPECT_EQ(read.levels.nvlink, 4);
  EXPECT_EQ(keys(R"({"nvl_domain_level":"clique","nvl_segment":4})").nvlink->segment, 4);
}

TEST(VendorKeys, WhatIsWrongIsNamed) {
  EXPECT_THAT(vendor_keys_problem("7"), HasSubstr("gang.vendor: expected an object, got 7"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascent":{}})"),
              AllOf(HasSubstr("ascent"), HasSubstr("gang.vendor")));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":[]})"),
              HasSubstr("gang.vendor.ascend: expected an object, got a list"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"spblock":1}})"), HasSubstr("spblock"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"sp_block":0}})"),
              HasSubstr("gang.vendor.ascend.sp_block"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"sp_block":"32"}})"),
              HasSubstr("gang.vendor.ascend.sp_block: expected an integer, got a string"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"ra_block":1.5}})"), HasSubstr("ascend.ra_block"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"reserve_nodes":-1}})"),
              HasSubstr("ascend.reserve_nodes"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"super_pod_size":0}})"),
              HasSubstr("ascend.super_pod_size"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"node_chips":65}})"),
              HasSubstr("ascend.node_chips"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"ub_memory":"true"}})"),
              HasSubstr("ascend.ub_memory"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"affinity":"sofd"}})"),
              AllOf(HasSubstr("ascend.affinity: unknown value \"sofd\""),
                    HasSubstr("did you mean \"soft\"")));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"server":"910a"}})"),
              HasSubstr("ascend.server: unknown value \"910a\"; did you mean \"950\"?"));
  EXPECT_THAT(vendor_keys_problem(R"({"ascend":{"rack_level":"rakc"}})"),
              AllOf(HasSubstr("ascend.rack_level: unknown level \"rakc\""),
                    HasSubstr("did you mean \"rack\"")));
}

TEST(VendorKeys, WhatIsWrongOfTorAndNvlinkIsNamed) {
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{}})"),
              HasSubstr("gang.vendor.tor.schema: is missing"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"large"}})"),
              HasSubstr("tor.schema: unknown value \"large\""));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":null}})"), HasSubstr("tor.schema"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","nslb_version":2.0}})"),
              HasSubstr("tor.nslb_version"));
  EXPECT_THAT(
      vendor_keys_problem(R"({"tor":{"schema":"null","nslb_version":"3.0"}})"),
      HasSubstr("tor.nslb_version: unknown value \"3.0\"; did you mean \"1.0\" or \"2.0\"?"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","tor_level":"two"}})"),
              HasSubstr("tor.tor_level"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","shared_tor_num":3}})"),
              HasSubstr("tor.shared_tor_num"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","tor_count":0}})"),
              HasSubstr("tor.tor_count"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","level":"spine"}})"),
              HasSubstr("tor.level: unknown level"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","states":[]}})"),
              HasSubstr("tor.states"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","states":{"t0":"busy"}}})"),
              HasSubstr("tor.states.t0: must be free, exclusive"));
  EXPECT_THAT(vendor_keys_problem(R"({"tor":{"schema":"null","states":{"t0":2}}})"),
              HasSubstr("t0"));
  EXPECT_THAT(vendor_keys_problem(R"({"nvl_domain_level":"nvl"})"),
              HasSubstr("gang.vendor.nvl_domain_level: unknown level"));
  EXPECT_THAT(vendor_keys_problem(R"({"nvl_segment":0})"), HasSubstr("gang.vendor.nvl_segment"));
}

}  // namespace
}  // namespace chipweave::codec
