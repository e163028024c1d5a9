// Topology requests that pods carry as labels and annotations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/kube/gangs/gang_object.hpp"
#include "tests/unit/codec_kube/gang_text.hpp"

namespace chipweave::codec {
namespace {

std::string wished(const StringMap& annotations, const StringMap& labels = {}) {
  return text_of(topology_of_pod(labels, annotations));
}

TEST(GangTopology, Kueue) {
  EXPECT_EQ(wished({{"kueue.x-k8s.io/podset-required-topology", "block"}}), "in block each");
  EXPECT_EQ(wished({{"kueue.x-k8s.io/podset-preferred-topology", "rack"},
                    {"kueue.x-k8s.io/podset-slice-required-topology", "host"},
                    {"kueue.x-k8s.io/podset-slice-size", "4"},
                    {"kueue.x-k8s.io/podset-group-name", "g"}}),
            "near rack 4 in host each with g");
  EXPECT_EQ(wished({{"kueue.x-k8s.io/podset-unconstrained-topology", "true"}}), "");
  EXPECT_EQ(wished({{"kueue.x-k8s.io/podset-slice-required-topology-constraints",
                     R"([{"topology":"block","size":8},{"topology":"rack","size":"4"}])"}}),
            "8 in block 4 in rack each");
}

TEST(GangTopology, KueueRefusesContradictions) {
  EXPECT_EQ(wished({{"kueue.x-k8s.io/podset-required-topology", "a"},
                    {"kueue.x-k8s.io/podset-preferred-topology", "b"}}),
            "in a near b each problem: kueue.x-k8s.io/podset-preferred-topology is \"b\"; it "
            "cannot be combined with kueue.x-k8s.io/podset-required-topology");
  EXPECT_THAT(wished({{"kueue.x-k8s.io/podset-slice-required-topology", "a"}}),
              testing::HasSubstr("podset-slice-size is missing"));
  EXPECT_THAT(wished({{"kueue.x-k8s.io/podset-slice-size", "2"}}),
              testing::HasSubstr("podset-slice-required-topology is missing"));
  for (const char* size : {"0", "-1", "x", "1000000000", ""})
    EXPECT_THAT(wished({{"kueue.x-k8s.io/podset-slice-required-topology", "a"},
                        {"kueue.x-k8s.io/podset-slice-size", size}}),
                testing::HasSubstr("expected a number from 1 to 100000"))
        << size;
  for (const char* layers : {"", "{}", "[", "[1]", R"([{"topology":"a"}])",
                             R"([{"topology":"a","size":0}])", R"([{"topology":"a","size":"x"}])",
                             R"([{},{},{},{}])", R"([{"topology":"a","sizes":[1]}])"})
    EXPECT_THAT(wished({{"kueue.x-k8s.io/podset-slice-required-topology-constraints", layers}}),
                testing::HasSubstr("problem: "))
        << layers;
}

TEST(GangTopology, OtherFrameworks) {
  EXPECT_EQ(wished({{"leaderworkerset.sigs.k8s.io/exclusive-topology", "rack"}}), "in rack");
  EXPECT_EQ(wished({{"kai.scheduler/topology-required-placement", "zone"},
                    {"kai.scheduler/topology-preferred-placement", "rack"}}),
            "in zone near rack");
  EXPECT_EQ(wished({{"volcano.sh/network-topology-mode", "hard"},
                    {"volcano.sh/network-topology-highest-tier", "2"}}),
            "in tier:2");
  EXPECT_EQ(wished({{"volcano.sh/network-topology-mode", "soft"},
                    {"volcano.sh/network-topology-highest-tier", "2"}}),
            "");
  EXPECT_THAT(wished({{"volcano.sh/network-topology-highest-tier", "-2"}}),
              testing::HasSubstr("expected a tier's number"));
  EXPECT_THAT(wished({{"volcano.sh/network-topology-mode", "firm"}}),
              testing::HasSubstr("expected hard or soft"));
  EXPECT_EQ(wished({{"gang.scheduling.koordinator.sh/network-topology-spec",
                     R"({"gatherStrategy":[{"layer":"a","strategy":"PreferGather"},
                         {"layer":"b","strategy":"PreferGather"}]})"}}),
            "near a+b");
  for (const char* spec : {"", "[]", R"({"gatherStrategy":[{"layer":"a","strategy":"x"}]})",
                           R"({"gatherStrategy":[{"layer":"a","strategy":"MustGather",
                               "podCountMultiple":-1}]})"})
    EXPECT_THAT(wished({{"gang.scheduling.koordinator.sh/network-topology-spec", spec}}),
                testing::HasSubstr("problem: "))
        << spec;
  EXPECT_EQ(wished({{"sp-block", "16"}}, {{"tor-affinity", "large-model-schema"}}),
            "ascend 16 tor large");
  EXPECT_EQ(wished({}, {{"tor-affinity", "null"}}), "");
  EXPECT_THAT(wished({{"sp-block", "0"}}), testing::HasSubstr("sp-block is \"0\""));
  EXPECT_THAT(wished({}, {{"tor-affinity", "x"}}), testing::HasSubstr("tor-affinity is \"x\""));
}

TEST(GangTopology, OwnAnnotationsComeFirst) {
  EXPECT_EQ(wished({{"chipweave.dev/gang-required-level", "block"},
                    {"chipweave.dev/gang-preferred-level", "rack"},
                    {"chipweave.dev/gang-slice", "rack=8, topology.kubernetes.io/host=2"},
                    {"chipweave.dev/gang-policy", "even"},
                    {"kai.scheduler/topology-required-placement", "zone"},
                    {"sp-block", "16"}}),
            "in block near rack 8 in rack 2 in topology.kubernetes.io/host even ascend 16");
  for (const char* slice : {"rack", "rack=", "=4", "rack=0", "rack=-4", "rack=4,", "rack=1e9"})
    EXPECT_THAT(wished({{"chipweave.dev/gang-slice", slice}}),
                testing::HasSubstr("expected LEVEL=PODS"))
        << slice;
  EXPECT_THAT(wished({{"chipweave.dev/gang-policy", "spread"}}),
              testing::HasSubstr("expected compact or even"));
  EXPECT_EQ(wished({}), "");
}

}  // namespace
}  // namespace chipweave::codec
