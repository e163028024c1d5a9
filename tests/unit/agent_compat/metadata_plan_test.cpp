#include "node-agent/publish/node/metadata_plan.hpp"

#include <gtest/gtest.h>

namespace chipweave::agent {
namespace {

constexpr const char* kKeys = kAgentKeysAnnotation;
using codec::StringChanges;

codec::KubeNodeMetadata node(codec::StringMap labels, codec::StringMap annotations) {
  return {"n1", "u1", "1", std::move(labels), std::move(annotations)};
}
NodeMetadata marks(codec::StringMap labels, codec::StringMap annotations = {}) {
  return {std::move(labels), std::move(annotations)};
}

TEST(MetadataPlan, WhatIsMissingIsAddedAndRecorded) {
  const MetadataPlan plan =
      plan_metadata(node({{"os", "linux"}}, {}),
                    marks({{"chipweave.dev/chips", "8"}, {"accelerator", "huawei-Ascend910"}},
                          {{"serverType", ""}}),
                    {});
  EXPECT_EQ(plan.changes.labels,
            (StringChanges{{"accelerator", "huawei-Ascend910"}, {"chipweave.dev/chips", "8"}}));
  EXPECT_EQ(
      plan.changes.annotations,
      (StringChanges{{"serverType", ""},
                     {kKeys, "labels=accelerator,chipweave.dev/chips;annotations=serverType"}}));
  EXPECT_TRUE(plan.foreign.empty());
}

TEST(MetadataPlan, WhatIsAsWantedCostsNothing) {
  const auto there =
      node({{"chipweave.dev/chips", "8"}}, {{kKeys, "labels=chipweave.dev/chips;annotations="}});
  EXPECT_TRUE(plan_metadata(there, marks({{"chipweave.dev/chips", "8"}}), {}).changes.none());
  EXPECT_TRUE(plan_metadata(node({}, {}), marks({}), {}).changes.none());
}

TEST(MetadataPlan, OursAreChangedAndRemoved) {
  const auto there = node(
      {{"chipweave.dev/chips", "8"}, {"chipweave.dev/old", "x"}},
      {{kKeys, "labels=chipweave.dev/chips,chipweave.dev/old,chipweave.dev/gone;annotations="}});
  const MetadataPlan plan = plan_metadata(there, marks({{"chipweave.dev/chips", "7"}}), {});
  EXPECT_EQ(plan.changes.labels,
            (StringChanges{{"chipweave.dev/chips", "7"}, {"chipweave.dev/old", std::nullopt}}));
  EXPECT_EQ(plan.changes.annotations,
            (StringChanges{{kKeys, "labels=chipweave.dev/chips;annotations="}}));
}

TEST(MetadataPlan, TheRecordGoesWithTheLastKey) {
  const auto there =
      node({{"chipweave.dev/chips", "8"}}, {{kKeys, "labels=chipweave.dev/chips;annotations="}});
  const MetadataPlan plan = plan_metadata(there, marks({}), {});
  EXPECT_EQ(plan.changes.labels, (StringChanges{{"chipweave.dev/chips", std::nullopt}}));
  EXPECT_EQ(plan.changes.annotations, (StringChanges{{kKeys, std::nullopt}}));
}

TEST(MetadataPlan, KeysOfOthersStayAsTheyAre) {
  const auto there =
      node({{"accelerator", "mine"}, {"servertype", "Ascend910B-20"}}, {{"superPodID", "3"}});
  const MetadataPlan plan =
      plan_metadata(there,
                    marks({{"accelerator", "huawei-npu"}, {"servertype", "Ascend910B-20"}},
                          {{"superPodID", "4"}}),
                    {});
  EXPECT_TRUE(plan.changes.none());
  EXPECT_EQ(plan.foreign,
            (std::vector<std::string>{"label accelerator (mine)", "annotation superPodID (3)"}));
  // It has our value but belongs to another owner, so it stays when it is no longer wanted.
  EXPECT_TRUE(plan_metadata(there, marks({}), {}).changes.none());
}

TEST(MetadataPlan, ARecordThatNamesKeysOfOthersIsNotBelieved) {
  const codec::StringMap labels = {{"node-role.kubernetes.io/control-plane", ""},
                                   {"kubernetes.io/hostname", "n1"}};
  for (const char* record :
       {"labels=node-role.kubernetes.io/control-plane,kubernetes.io/hostname;annotations=note",
        "labels=;annotations=node.alpha.kubernetes.io/ttl,note,chipweave.dev/cordon-chips",
        "annotations=note;labels=kubernetes.io/hostname", ";;;", "labels=", "x",
        ",,;labels=,;annotations=,"}) {
    const auto there = node(labels, {{"note", "x"},
                                     {"chipweave.dev/cordon-chips", "3"},
                                     {"node.alpha.kubernetes.io/ttl", "0"},
                                     {kKeys, record}});
    const MetadataPlan plan = plan_metadata(there, marks({}), {});
    EXPECT_TRUE(plan.changes.labels.empty()) << record;
    EXPECT_EQ(plan.changes.annotations, (StringChanges{{kKeys, std::nullopt}})) << record;
  }
}

TEST(MetadataPlan, ACommandIsRemovedWithTheValueThatWasCarriedOut) {
  const auto there = node({}, {{"chipweave.dev/clear-faults", "3"}});
  const char* key = "chipweave.dev/clear-faults";
  EXPECT_EQ(plan_metadata(there, marks({}), {{key, "3"}}).changes.annotations,
            (StringChanges{{key, std::nullopt}}));
  EXPECT_TRUE(plan_metadata(there, marks({}), {{key, "*"}}).changes.none());
  EXPECT_TRUE(plan_metadata(node({}, {}), marks({}), {{key, "3"}}).changes.none());
}

}  // namespace
}  // namespace chipweave::agent
