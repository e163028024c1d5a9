// A scheduling gate is removed with everything else in one patch, with every kind of answer of the
// API server, or none. The answers are those of Kubernetes 1.36.
#include "common/kube/ungate_pod.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/codec/kube/pod/nodes/node_pin.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

const std::string kGatedPath = "/api/v1/namespaces/team/pods/w-0";
const std::string kGate = R"("schedulingGates":[{"$patch":"delete","name":"chipweave.dev/gang"}])";

// gates and affinity: JSON members of its spec.
std::string gated_pod(const std::string& uid, const std::string& spec,
                      const std::string& annotations = "") {
  return R"({"kind":"Pod","metadata":{"name":"w-0","namespace":"team","uid":")" + uid +
         R"(","resourceVersion":"7","annotations":{)" + annotations + R"(}},"spec":{)" + spec +
         "}}";
}
const std::string kStillGated = R"("schedulingGates":[{"name":"chipweave.dev/gang"}])";

std::string ungate_status(int code, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","code":)" + std::to_string(code) +
         R"(,"message":")" + message + R"("})";
}

std::string required(const std::string& terms) {
  return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
         R"({"nodeSelectorTerms":)" +
         terms + "}}}";
}
const std::string kOnlyN1 = R"({"key":"metadata.name","operator":"In","values":["n1"]})";

// tests/e2e sends the same bodies to a real API server.
TEST(UngateText, IsWhatTheRealApiServerTakes) {
  using Json = nlohmann::json;
  const auto file = test::file_content(test::source_path("tests/unit/kube/ungate_patches.json"));
  const Json golden = Json::parse(file.value());
  const UngateRequest request{
      "team", "w-0", "UID", "chipweave.dev/gang", {{"chipweave.dev/rank", "3"}}, {}, {}};
  const auto body = [&](const UngatePatch& patch) {
    return Json::parse(ungate_text(request, patch));
  };
  EXPECT_EQ(body({"", "", true}), golden["plain"]);
  EXPECT_EQ(body({codec::pin_terms("NODE"), "", true}), golden["pinned"]);
  EXPECT_EQ(body({"", "VERSION", false}), golden["annotations"]);
  Json terms = Json::parse(R"([{"matchExpressions":[{"key":"kubernetes.io/os","operator":"NotIn",
      "values":["windows"]}]},{"matchFields":[{"key":"metadata.name","operator":"NotIn",
      "values":["other"]}]}])");
  Json pod;
  pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
     ["nodeSelectorTerms"] = std::move(terms);
  EXPECT_EQ(body({codec::pin_terms(pod.dump(), "NODE").value(), "VERSION", true}),
            golden["pinned beside terms"]);
}

class Ungates : public testing::Test {
 protected:
  void begin(std::optional<std::string> pin_to = {}, const std::string& name = "w-0") {
    UngateRequest request{"team", name, "u1", "chipweave.dev/gang", {{"rank", "3"}}, {}, {}};
    request.pin_to = std::move(pin_to);
    request.may_send = [this] { return leads_; };
    ticket_ = ungate_pod(server_, std::move(request), [this](const Result<void>& result) {
      ++answers_;
      outcome_ = result
                     ? "done"
                     : std::string(to_string(result.error().code)) + ": " + result.error().text();
    });
  }
  // The transport asks before it sends.
  void lose_leadership() {
    leads_ = false;
    EXPECT_FALSE(server_.may_send());
    server_.fail(Errc::unavailable, "not sent");
  }
  bool leads_ = true;
  ScriptedTransport server_;
  std::unique_ptr<Ticket> ticket_;
  std::string outcome_;
  int answers_ = 0;
};

TEST_F(Ungates, InOnePatchWithoutARead) {
  begin();
  EXPECT_EQ(server_.target, "PATCH " + kGatedPath);
  EXPECT_EQ(server_.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(server_.body,
            R"({"metadata":{"uid":"u1","annotations":{"rank":"3"}},"spec":{)" + kGate + "}}");
  server_.reply(200, "{}");
  EXPECT_EQ(outcome_, "done");
  EXPECT_EQ(answers_, 1);
}

TEST_F(Ungates, AndPinsInTheSamePatch) {
  begin("n1");
  EXPECT_EQ(server_.body, R"({"metadata":{"uid":"u1","annotations":{"rank":"3"}},"spec":{)" +
                              kGate + "," + required(R"([{"matchFields":[)" + kOnlyN1 + "]}]") +
                              "}}");
  server_.reply(200, "{}");
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Ungates, AddsThePinToEachTermOfThePod) {
  begin("n1");
  server_.reply(422, ungate_status(422, "no additions/deletions to non-empty list are allowed"));
  EXPECT_EQ(server_.target, kGatedPath);
  const std::string zone = R"({"key":"zone","operator":"In","values":["a"]})";
  const std::string not_n9 = R"({"key":"metadata.name","operator":"NotIn","values":["n9"]})";
  server_.reply(200, gated_pod("u1", kStillGated + "," +
                                         required(R"([{"matchExpressions":[)" + zone +
                                                  R"(]},{},{"matchFields":[)" + not_n9 + "]}]")));
  EXPECT_EQ(
      server_.body,
      R"({"metadata":{"uid":"u1","resourceVersion":"7","annotations":{"rank":"3"}},"spec":{)" +
          kGate + "," +
          required(R"([{"matchExpressions":[)" + zone + R"(],"matchFields":[)" + kOnlyN1 +
                   R"(]},{},{"matchFields":[)" + not_n9 + "," + kOnlyN1 + "]}]") +
          "}}");
  server_.reply(200, "{}");
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Ungates, ReadsAgainWhenItChangedMeanwhile) {
  begin("n1");
  server_.reply(422, ungate_status(422, "only additions are allowed"));
  server_.reply(200, gated_pod("u1", kStillGated + "," + required("[{}]")));
  server_.reply(409, ungate_status(409, "the object has been modified"));
  EXPECT_EQ(server_.target, "wait 100");
  server_.pass_time();
  EXPECT_EQ(server_.target, kGatedPath);
  server_.reply(200, gated_pod("u1", R"("nodeName":"n2")", R"("rank":"3")"));
  EXPECT_EQ(outcome_, "done") << "another client removed the gate";
}

TEST_F(Ungates, APodThatIsUngatedAlreadyGetsItsAnnotations) {
  begin("n1");
  server_.reply(422, ungate_status(422, "pod updates may not change fields other than"));
  server_.reply(200, gated_pod("u1", R"("schedulingGates":[{"name":"other"}])", R"("rank":"2")"));
  EXPECT_EQ(server_.target, "PATCH " + kGatedPath);
  EXPECT_EQ(server_.body,
            R"({"metadata":{"uid":"u1","resourceVersion":"7","annotations":{"rank":"3"}}})");
  server_.reply(200, "{}");
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Ungates, ThePodThatIsMeant) {
  begin();
  server_.reply(422, ungate_status(422, "metadata.uid: field is immutable"));
  server_.reply(200, gated_pod("u2", kStillGated));
  EXPECT_EQ(outcome_, "conflict: pod team/w-0 has another uid: it was deleted and recreated");
  begin();
  server_.reply(404, ungate_status(404, "not found"));
  EXPECT_EQ(outcome_, "not_found: pod team/w-0 does not exist");
  begin();
  server_.reply(422, ungate_status(422, "metadata.uid: field is immutable"));
  server_.reply(404, ungate_status(404, "not found"));
  EXPECT_EQ(outcome_, "not_found: pod team/w-0 does not exist");
}

TEST_F(Ungates, TheSamePatchAgainAfterALostAnswer) {
  begin("n1");
  const std::string first = server_.body;
  EXPECT_TRUE(server_.may_send());
  server_.fail(Errc::unavailable, "reset by peer");
  server_.pass_time();
  EXPECT_EQ(server_.target, "PATCH " + kGatedPath);
  EXPECT_EQ(server_.body, first);
  server_.reply(200, "{}");
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Ungates, RefusalsAreFinalAndOverloadIsNot) {
  const std::string not_allowed =
      "invalid_argument: the API server does not let chipweave ungate pod team/w-0 (HTTP ";
  begin();
  server_.reply(403, ungate_status(403, "pods is forbidden"));
  EXPECT_EQ(outcome_, not_allowed + "403): pods is forbidden");
  begin();
  server_.reply(422, ungate_status(422, "a policy says no"));
  server_.reply(200, gated_pod("u1", kStillGated));
  EXPECT_EQ(outcome_, not_allowed + "422): a policy says no");
  begin("n1");
  server_.reply(422, ungate_status(422, "a policy says no"));
  server_.reply(200, gated_pod("u1", kStillGated));
  server_.reply(422, ungate_status(422, "a policy says no"));
  EXPECT_EQ(outcome_, not_allowed + "422): a policy says no");
  begin();
  EXPECT_TRUE(server_.may_send());
  server_.reply(429, "too many requests");
  for (int tries = 0; tries < 20 && answers_ < 4; ++tries) {
    server_.pass_time();
    if (answers_ < 4) server_.reply(503, ungate_status(503, "busy"));
  }
  EXPECT_EQ(outcome_, "unavailable: pod team/w-0 could not be ungated in time: busy");
}

TEST_F(Ungates, NothingForAReplicaThatDoesNotLeadAnyMore) {
  begin();
  lose_leadership();
  EXPECT_EQ(outcome_, "not_sent: the ungating of pod team/w-0 was called off");
  leads_ = true;
  begin();
  EXPECT_TRUE(server_.may_send());
  server_.fail(Errc::unavailable, "reset by peer");
  server_.pass_time();
  lose_leadership();
  EXPECT_EQ(outcome_, "unavailable: the ungating of pod team/w-0 was called off")
      << "the first one may have arrived";
}

TEST_F(Ungates, NothingWithAnImpossibleName) {
  const std::string impossible =
      "invalid_argument: the name of the namespace, pod or node is invalid";
  begin({}, "../nodes");
  server_.pass_time();
  EXPECT_EQ(outcome_, impossible);
  outcome_.clear();
  begin("a/b");
  server_.pass_time();
  EXPECT_EQ(outcome_, impossible);
  EXPECT_EQ(answers_, 2);
}

}  // namespace
}  // namespace chipweave::kube
