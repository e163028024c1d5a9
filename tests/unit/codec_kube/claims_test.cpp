// ResourceClaims, DeviceClasses and pods that name claims, as the API server shows them; what is
// written to claims.
#include <gtest/gtest.h>

#include "common/codec/kube/dra/claim_writes.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::codec {
namespace {

template <class Object>
Object read(std::string json) {
  WatchReader<Object> reader;
  auto object = reader.read_one(json);
  EXPECT_TRUE(object.ok()) << (object ? "" : object.error().text());
  return object ? std::move(*object) : Object{};
}

const char* kClaim = R"({"metadata":{"namespace":"ns","name":"c","uid":"u","resourceVersion":"7",
  "finalizers":["x/y"]},"spec":{"devices":{
  "requests":[{"name":"a","exactly":{"deviceClassName":"chipweave-gpu","allocationMode":"ExactCount","count":5}},
              {"name":"b","exactly":{"deviceClassName":"chipweave-gpu","count":1,"tolerations":[{"operator":"Exists"}]}}],
  "constraints":[{"requests":["a"],"matchAttribute":"d/island"}],
  "config":[{"requests":["a"],"opaque":{"driver":"g","parameters":{"k":[1]}}}]}},
  "status":{}})";

KubeClaim with_request(const std::string& exactly) {
  return read<KubeClaim>(
      R"({"metadata":{"name":"c","uid":"u","resourceVersion":"7"},"spec":{"devices":{"requests":[)" +
      exactly + "]}}}");
}

TEST(Claims, AreReadWithWhatTheyAskFor) {
  const KubeClaim claim = read<KubeClaim>(kClaim);
  ASSERT_EQ(claim.requests.size(), 2U);
  EXPECT_EQ(claim.requests[0].device_class, "chipweave-gpu");
  EXPECT_EQ(claim.requests[0].count, 5);
  EXPECT_EQ(claim.requests[0].problem, "");
  EXPECT_EQ(claim.requests[1].problem, "");
  ASSERT_EQ(claim.match.size(), 1U);
  EXPECT_EQ(claim.match[0].attribute, "d/island");
  EXPECT_EQ(claim.match[0].requests, std::vector<std::string>{"a"});
  ASSERT_EQ(claim.configs.size(), 1U);
  EXPECT_EQ(claim.configs[0].opaque, R"({"driver":"g","parameters":{"k":[1]}})");
  EXPECT_FALSE(claim.allocated);
  EXPECT_FALSE(has_finalizer(claim));
}

TEST(Claims, NameWhatCannotBeServed) {
  const auto problem = [](const std::string& request) {
    return with_request(request).requests.at(0).problem;
  };
  EXPECT_EQ(problem(R"({"name":"a","exactly":{"allocationMode":"All"}})"), "allocationMode All");
  EXPECT_EQ(problem(R"({"name":"a","exactly":{"adminAccess":true}})"), "adminAccess");
  EXPECT_EQ(problem(R"({"name":"a","exactly":{"adminAccess":false}})"), "");
  EXPECT_EQ(problem(R"({"name":"a","exactly":{"selectors":[{"cel":{"expression":"true"}}]}})"),
            "selectors");
  EXPECT_EQ(problem(R"({"name":"a","exactly":{"selectors":[]}})"), "");
  EXPECT_EQ(problem(R"({"name":"a","exactly":{"capacity":{"requests":{"m":"1"}}}})"), "capacity");
  const KubeClaim first = with_request(
      R"({"name":"a","firstAvailable":[{"name":"x","deviceClassName":"chipweave-gpu"}]})");
  EXPECT_EQ(first.requests[0].problem, "firstAvailable");
  EXPECT_EQ(first.requests[0].device_class, "chipweave-gpu");
  const KubeClaim distinct = read<KubeClaim>(
      R"({"metadata":{"name":"c","uid":"u","resourceVersion":"7"},"spec":{"devices":{"requests":[],
          "constraints":[{"distinctAttribute":"d/x"}]}}})");
  EXPECT_EQ(distinct.problem, "the constraint distinctAttribute");
}

TEST(Claims, AreReadWithTheirAllocation) {
  const KubeClaim claim = read<KubeClaim>(
      R"({"metadata":{"name":"c","uid":"u","resourceVersion":"7"},"spec":{},"status":{"allocation":{
          "devices":{"results":[{"request":"a","driver":"g","pool":"n1","device":"gpu-0"}]},
          "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}},
          "reservedFor":[{"resource":"pods","name":"p","uid":"pu"},{"apiGroup":"x","resource":"y","name":"z","uid":"w"}]}})");
  EXPECT_TRUE(claim.allocated);
  EXPECT_EQ(claim.devices, (std::vector<ClaimedDevice>{{"g", "n1", "gpu-0"}}));
  ASSERT_EQ(claim.node_terms.size(), 1U);
  EXPECT_EQ(claim.node_terms[0].fields.at(0).values, std::vector<std::string>{"n1"});
  EXPECT_EQ(claim.pods, std::vector<std::string>{"pu"});
  EXPECT_EQ(claim.consumers.size(), 2U);
  EXPECT_EQ(write_claim_reservation(claim, {"", "pods", "q", "qu"}),
            R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"reservedFor":[)"
            R"({"resource":"pods","name":"p","uid":"pu"},)"
            R"({"apiGroup":"x","resource":"y","name":"z","uid":"w"},)"
            R"({"resource":"pods","name":"q","uid":"qu"}]}})");
  EXPECT_EQ(
      write_claim_release(claim),
      R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"allocation":null,"reservedFor":null}})");
}

TEST(Claims, AreWrittenAsKubernetesStoresThem) {
  const KubeClaim claim = read<KubeClaim>(kClaim);
  EXPECT_EQ(write_claim_finalizer(claim, true),
            R"({"metadata":{"uid":"u","resourceVersion":"7","finalizers":)"
            R"(["x/y","resource.kubernetes.io/delete-protection"]}})");
  EXPECT_EQ(write_claim_finalizer(claim, false),
            R"({"metadata":{"uid":"u","resourceVersion":"7","finalizers":["x/y"]}})");
  ClaimAllocation allocation;
  allocation.node = "n1";
  allocation.time = "2026-01-02T03:04:05Z";
  allocation.results = {{"a", {"g", "n1", "gpu-3"}}};
  allocation.class_configs = {{"a", {{{}, R"({"driver":"g"})"}}}, {"b", {}}};
  allocation.claim_configs = claim.configs;
  EXPECT_EQ(
      write_claim_allocation(claim, allocation, {"", "pods", "p", "pu"}),
      R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"allocation":{)"
      R"("allocationTimestamp":"2026-01-02T03:04:05Z","devices":{"results":[)"
      R"({"request":"a","driver":"g","pool":"n1","device":"gpu-3"}],"config":[)"
      R"({"source":"FromClass","requests":["a"],"opaque":{"driver":"g"}},)"
      R"({"source":"FromClaim","requests":["a"],"opaque":{"driver":"g","parameters":{"k":[1]}}}]},)"
      R"("nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name",)"
      R"("operator":"In","values":["n1"]}]}]}},"reservedFor":[)"
      R"({"resource":"pods","name":"p","uid":"pu"}]}})");
}

TEST(Claims, OfPodsAreResolvedByTheirStatus) {
  const KubePod pod = read<KubePod>(
      R"({"metadata":{"namespace":"ns","name":"p","uid":"u","resourceVersion":"1"},
          "status":{"resourceClaimStatuses":[{"name":"t","resourceClaimName":"p-t-x"},{"name":"none"}]},
          "spec":{"nodeSelector":{"z":"a"},
                  "resourceClaims":[{"name":"t","resourceClaimTemplateName":"tt"},{"name":"d","resourceClaimName":"dd"},
                                    {"name":"none","resourceClaimTemplateName":"tt"},{"name":"later","resourceClaimTemplateName":"tt"}],
                  "tolerations":[{"key":"k","operator":"Exists"}],
                  "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                    {"matchExpressions":[{"key":"gen","operator":"Gt","values":["2"]}]}]}}}}})");
  ASSERT_NE(pod.claims, nullptr);
  const ClaimsOfPod& claims = *pod.claims;
  ASSERT_EQ(claims.claims.size(), 4U);
  EXPECT_EQ(claims.claims[0].claim, "p-t-x");
  EXPECT_EQ(claims.claims[1].claim, "dd");
  EXPECT_TRUE(claims.claims[2].none);
  EXPECT_EQ(claims.claims[3].claim, "");
  EXPECT_FALSE(claims.claims[3].none);
  EXPECT_EQ(pod.nodes->selector.at("z"), "a");
  EXPECT_TRUE(pod.nodes->has_required);
  EXPECT_EQ(pod.nodes->required.at(0).labels.at(0).op, "Gt");
  EXPECT_EQ(pod.nodes->tolerations.at(0).key, "k");
  const KubePod without = read<KubePod>(
      R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1"},"spec":{"nodeSelector":{"z":"a"}}})");
  EXPECT_EQ(without.claims, nullptr);
  EXPECT_EQ(without.nodes->selector.at("z"), "a");
  EXPECT_EQ(
      read<KubePod>(R"({"metadata":{"name":"p","uid":"u","resourceVersion":"1"},"spec":{}})").nodes,
      nullptr);
}

TEST(Claims, AreOfClassesWithSelectorsAndConfig) {
  const KubeDeviceClass read_class = read<KubeDeviceClass>(
      R"({"metadata":{"name":"chipweave-gpu","uid":"u","resourceVersion":"1","annotations":{"chipweave.dev/resource":"amd.com/gpu"}},
          "spec":{"selectors":[{"cel":{"expression":"false"}}],"config":[{"opaque":{"driver":"g"}}]}})");
  EXPECT_EQ(read_class.selectors, std::vector<std::string>{"false"});
  EXPECT_EQ(read_class.annotations.at("chipweave.dev/resource"), "amd.com/gpu");
  EXPECT_EQ(read_class.configs.at(0).opaque, R"({"driver":"g"})");
}

TEST(Claims, AreServedFromSlicesWithAttributes) {
  const KubeSlice slice = read<KubeSlice>(
      R"({"metadata":{"name":"s","uid":"u","resourceVersion":"1"},"spec":{"driver":"g","pool":{"name":"n","generation":1},
          "devices":[{"name":"d","attributes":{"uuid":{"string":"U"},"index":{"int":3},"x/ok":{"bool":true},"v":{"version":"1.2.3"}}}]}})");
  const auto& attributes = slice.devices.at(0).attributes;
  EXPECT_EQ(slice.devices[0].uuid, "U");
  EXPECT_EQ(attributes.at("uuid"), "s:U");
  EXPECT_EQ(attributes.at("index"), "i:3");
  EXPECT_EQ(attributes.at("x/ok"), "b:true");
  EXPECT_EQ(attributes.at("v"), "v:1.2.3");
}

TEST(Claims, OfNodesThatSayWhoMayRunThere) {
  const KubeNode node = read<KubeNode>(
      R"({"metadata":{"name":"n","uid":"u","resourceVersion":"1","labels":{"z":"a"}},
          "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},
          "status":{"allocatable":{"cpu":"4","memory":"8Gi"}}})");
  EXPECT_EQ(node.labels.at("z"), "a");
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.taints.at(0).key, "k");
  EXPECT_EQ(node.cpu, "4");
}

}  // namespace
}  // namespace chipweave::codec
