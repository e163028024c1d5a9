// Claims for pods that request extended resources: made, allocated, named, ended, whatever an
// earlier attempt has left and whatever answers are lost.
#include "common/kube/pod_claims.hpp"

#include <gtest/gtest.h>

#include <random>

#include <nlohmann/json.hpp>

#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

using Json = nlohmann::json;

const std::string kClaims = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims";
const std::string kClaim = kClaims + "/chipweave-u1";
const std::string kPodStatus = "/api/v1/namespaces/team/pods/w-0/status";

codec::PodClaim claim_of(const std::string& node, const std::vector<std::string>& devices) {
  codec::PodClaim out;
  out.ns = "team";
  out.pod = "w-0";
  out.pod_uid = "u1";
  out.resource = "nvidia.com/gpu";
  out.device_class = "chipweave-gpu";
  out.node = node;
  for (const std::string& device : devices) out.devices.push_back({"gpu.nvidia.com", node, device});
  for (std::size_t k = 0; k < devices.size(); ++k) out.containers["main"].push_back(k);
  return out;
}

// What the API server keeps of one pod and its claim, and its rules about them.
class ClaimServer {
 public:
  Reply answer(const std::string& target, const std::string& body) {
    if (target == "POST " + kClaims) return create(Json::parse(body));
    if (target == "PUT " + kClaim + "/status") return put_status(Json::parse(body));
    if (target == "DELETE " + kClaim) return remove(Json::parse(body));
    if (target == kClaim) return claim ? shown() : status(404);
    if (target == "PATCH " + kPodStatus) {
      const Json patch = Json::parse(body);
      if (patch["metadata"]["uid"] != "u1") return status(409);
      if (forgets_status) return {200, R"({"status":{}})", std::nullopt};
      pod_status = patch["status"];
      return {200, patch.dump(), std::nullopt};
    }
    ADD_FAILURE() << target;
    return status(400);
  }
  // The devices of the claim, in the order of its requests.
  std::vector<std::string> devices() const {
    std::vector<std::string> out;
    if (!claim || !claim->contains("status")) return out;
    for (const Json& one :
         (*claim)["status"].value("/allocation/devices/results"_json_pointer, Json::array()))
      out.push_back(one["device"]);
    return out;
  }
  static Reply status(int code) {
    return {code, R"({"kind":"Status","code":)" + std::to_string(code) + R"(,"message":"no"})",
            std::nullopt};
  }

  std::optional<Json> claim;
  Json pod_status;
  bool forgets_status = false;  // its feature DRAExtendedResource is off

 private:
  Reply shown() const { return {200, claim->dump(), std::nullopt}; }
  void bump() { (*claim)["metadata"]["resourceVersion"] = std::to_string(++version_); }
  Reply create(Json object) {
    if (claim) return status(409);
    object["metadata"]["uid"] = "c" + std::to_string(++version_);
    claim = std::move(object);
    bump();
    return {201, claim->dump(), std::nullopt};
  }
  bool current(const Json& metadata) const {
    return metadata["uid"] == (*claim)["metadata"]["uid"] &&
           metadata["resourceVersion"] == (*claim)["metadata"]["resourceVersion"];
  }
  Reply put_status(const Json& object) {
    if (!claim) return status(404);
    if (!current(object["metadata"])) return status(409);
    // An allocation cannot be changed, only ended, and not while it is reserved.
    const bool was = !devices().empty();
    const Json& now = object["status"];
    if (was && now.contains("allocation") && now != (*claim)["status"]) return status(422);
    (*claim)["status"] = now;
    bump();
    return shown();
  }
  Reply remove(const Json& options) {
    if (!claim) return status(404);
    if (!current(options["preconditions"])) return status(409);
    if (!devices().empty()) return status(422);
    claim.reset();
    return {200, "{}", std::nullopt};
  }

  int version_ = 0;
};

class PodClaims : public testing::Test {
 protected:
  void allocate(const codec::PodClaim& claim) {
    outcome_.clear();
    ticket_ = allocate_claim(transport_, {claim, "2026-01-02T03:04:05Z", {}}, taken());
  }
  void end(const codec::PodClaim& claim) {
    outcome_.clear();
    ticket_ = end_claim(transport_, claim, {}, taken());
  }
  std::function<void(Result<void>)> taken() {
    return [this](Result<void> result) {
      outcome_ = result
                     ? "done"
                     : std::string(to_string(result.error().code)) + ": " + result.error().text();
    };
  }
  // One request is answered, or one wait is over. False: nothing is left to do.
  bool step() {
    if (!outcome_.empty()) return false;
    if (transport_.on_time) {
      transport_.pass_time();
      return true;
    }
    const Reply reply = server_.answer(transport_.target, transport_.body);
    transport_.reply(reply.status, reply.body);
    return true;
  }
  void run() {
    while (step()) {
    }
  }

  ScriptedTransport transport_;
  ClaimServer server_;
  std::unique_ptr<Ticket> ticket_;
  std::string outcome_;
};

TEST_F(PodClaims, AreMadeAllocatedReservedAndNamed) {
  codec::PodClaim claim = claim_of("n1", {"gpu-3", "gpu-1"});
  claim.containers = {{"init", {1}}, {"main", {0, 1}}};
  allocate(claim);
  run();
  EXPECT_EQ(outcome_, "done");
  const Json& stored = *server_.claim;
  EXPECT_EQ(stored["metadata"]["name"], "chipweave-u1");
  EXPECT_EQ(stored["metadata"]["finalizers"],
            Json::array({"resource.kubernetes.io/delete-protection"}));
  EXPECT_EQ(stored["metadata"]["annotations"][codec::kExtendedResourceClaim], "true");
  EXPECT_FALSE(stored["metadata"]["annotations"].contains("chipweave.dev/one-container"));
  EXPECT_EQ(stored["metadata"]["ownerReferences"][0]["uid"], "u1");
  EXPECT_EQ(stored["spec"]["devices"]["requests"], Json::parse(R"([
    {"name":"chip-00","exactly":{"deviceClassName":"chipweave-gpu","count":1}},
    {"name":"chip-01","exactly":{"deviceClassName":"chipweave-gpu","count":1}}])"));
  EXPECT_EQ(stored["status"], Json::parse(R"({"allocation":{
    "allocationTimestamp":"2026-01-02T03:04:05Z",
    "devices":{"results":[
      {"request":"chip-00","driver":"gpu.nvidia.com","pool":"n1","device":"gpu-3"},
      {"request":"chip-01","driver":"gpu.nvidia.com","pool":"n1","device":"gpu-1"}]},
    "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["n1"]}]}]}},
    "reservedFor":[{"resource":"pods","name":"w-0","uid":"u1"}]})"));
  EXPECT_EQ(server_.pod_status, Json::parse(R"({"extendedResourceClaimStatus":{
    "resourceClaimName":"chipweave-u1","requestMappings":[
      {"containerName":"init","resourceName":"nvidia.com/gpu","requestName":"chip-01"},
      {"containerName":"main","resourceName":"nvidia.com/gpu","requestName":"chip-00"},
      {"containerName":"main","resourceName":"nvidia.com/gpu","requestName":"chip-01"}]}})"));
}

TEST_F(PodClaims, SayThatOneContainerHasAllDevices) {
  allocate(claim_of("n1", {"gpu-3", "gpu-1"}));
  run();
  EXPECT_EQ((*server_.claim)["metadata"]["annotations"]["chipweave.dev/one-container"], "true");
}

TEST_F(PodClaims, ThatAreThereAlreadyAreLeftAlone) {
  allocate(claim_of("n1", {"gpu-1"}));
  run();
  const Json before = *server_.claim;
  allocate(claim_of("n1", {"gpu-1"}));
  run();
  EXPECT_EQ(outcome_, "done");
  EXPECT_EQ(*server_.claim, before);
}

TEST_F(PodClaims, OfOthersAreNotTouched) {
  server_.claim = Json::parse(R"({"metadata":{"name":"chipweave-u1","uid":"c","resourceVersion":"1",
    "ownerReferences":[{"uid":"another"}]}})");
  const Json before = *server_.claim;
  allocate(claim_of("n1", {"gpu-1"}));
  run();
  EXPECT_TRUE(outcome_.starts_with("conflict")) << outcome_;
  end(claim_of("n1", {"gpu-1"}));
  run();
  EXPECT_EQ(outcome_, "done");
  EXPECT_EQ(*server_.claim, before);
}

TEST_F(PodClaims, RefusalsAreFinal) {
  allocate(claim_of("n1", {"gpu-1"}));
  transport_.reply(403, ClaimServer::status(403).body);
  EXPECT_TRUE(outcome_.starts_with("invalid_argument")) << outcome_;
  EXPECT_NE(outcome_.find("HTTP 403"), std::string::npos) << outcome_;
  allocate(claim_of("n1", {"gpu-1"}));
  step();
  step();
  ASSERT_EQ(transport_.target, "PATCH " + kPodStatus);
  transport_.reply(404, ClaimServer::status(404).body);
  EXPECT_TRUE(outcome_.starts_with("not_found")) << outcome_;
}

TEST_F(PodClaims, AServerThatDropsTheFieldIsToldFromOneThatKeepsIt) {
  server_.forgets_status = true;
  allocate(claim_of("n1", {"gpu-1"}));
  run();
  EXPECT_TRUE(outcome_.starts_with("invalid_argument")) << outcome_;
  EXPECT_NE(outcome_.find("Kubernetes 1.36"), std::string::npos) << outcome_;
  end(claim_of("n1", {"gpu-1"}));
  run();
  EXPECT_EQ(outcome_, "done");
  EXPECT_FALSE(server_.claim);
}

TEST_F(PodClaims, AServerThatDoesNotAnswerIsGivenUp) {
  allocate(claim_of("n1", {"gpu-1"}));
  while (outcome_.empty())
    transport_.on_time ? transport_.pass_time() : transport_.reply(503, "busy");
  EXPECT_TRUE(outcome_.starts_with("not_sent")) << outcome_;
  end(claim_of("n1", {"gpu-1"}));
  while (outcome_.empty())
    transport_.on_time ? transport_.pass_time() : transport_.fail(Errc::unavailable, "away");
  EXPECT_TRUE(outcome_.starts_with("unavailable")) << outcome_;
}

TEST_F(PodClaims, NothingIsWrittenOnceItIsCalledOff) {
  bool may = true;
  ticket_ =
      allocate_claim(transport_, {claim_of("n1", {"gpu-1"}), "t", [&] { return may; }}, taken());
  ASSERT_TRUE(transport_.may_send);
  may = false;
  EXPECT_FALSE(transport_.may_send());
}

// An attempt is killed, or an answer is lost, at any moment; the next one, for the same devices or
// for others, ends with exactly its own.
TEST_F(PodClaims, HealAfterAKillBetweenAnyTwoRequests) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    server_ = ClaimServer();
    const auto any = [&random] {
      const std::string node = random() % 2 == 0 ? "n1" : "n2";
      std::vector<std::string> devices;
      for (unsigned k = 0; k <= random() % 3; ++k)
        devices.push_back("gpu-" + std::to_string(random() % 8));
      return claim_of(node, devices);
    };
    for (int attempt = 0; attempt < 3; ++attempt) {
      random() % 3 == 0 ? end(any()) : allocate(any());
      for (auto steps = random() % 6; steps > 0; --steps) {
        if (!outcome_.empty() || transport_.on_time || random() % 4 != 0) {
          if (!step()) break;
          continue;
        }
        if (random() % 2 == 0) server_.answer(transport_.target, transport_.body);
        transport_.fail(Errc::unavailable, "cut");
      }
      ticket_.reset();
    }
    const codec::PodClaim last = any();
    allocate(last);
    run();
    EXPECT_EQ(outcome_, "done");
    std::vector<std::string> expected;
    for (const codec::ClaimedDevice& device : last.devices) expected.push_back(device.device);
    EXPECT_EQ(server_.devices(), expected);
    EXPECT_EQ(server_.pod_status["extendedResourceClaimStatus"]["requestMappings"].size(),
              expected.size());
    end(last);
    run();
    EXPECT_EQ(outcome_, "done");
    EXPECT_FALSE(server_.claim);
  }
}

}  // namespace
}  // namespace chipweave::kube
