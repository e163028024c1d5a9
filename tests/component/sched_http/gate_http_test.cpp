// The webhook on new pods over real sockets.
#include "common/codec/kube/base64.hpp"
#include "tests/component/sched_http/sched_http.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

const char* const kGateReply = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",)"
                               R"("response":{"uid":"r-1","allowed":true,"patchType":"JSONPatch",)"
                               R"("patch":")";

class GateHttp : public SchedHttp {
 protected:
  static Json member(int chips) {
    Json p = pod("w-0", chips);
    p["metadata"]["labels"] = {{"leaderworkerset.sigs.k8s.io/name", "l"},
                               {"leaderworkerset.sigs.k8s.io/group-index", "2"}};
    return p;
  }
  static Json review_of(const Json& p, const Json& more = Json::object()) {
    Json request = {{"uid", "r-1"},
                    {"resource", {{"group", ""}, {"version", "v1"}, {"resource", "pods"}}},
                    {"namespace", "ns"},
                    {"operation", "CREATE"},
                    {"object", p}};
    request.update(more);
    return {
        {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}};
  }
  Json answer(const Json& review) {
    const auto reply = call("POST", "/admission/gate", review.dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    return Json::parse(reply.body)["response"];
  }
  static std::string gate_patch() {
    return codec::encode_base64(
        R"([{"op":"add","path":"/spec/schedulingGates","value":[{"name":"chipweave.dev/gang"}]}])");
  }
};

TEST_F(GateHttp, GatesMembersOfGangsWithChips) {
  EXPECT_EQ(call("POST", "/admission/gate", review_of(member(8)).dump()).body,
            kGateReply + gate_patch() + "\"}}");
  const Json allowed = {{"uid", "r-1"}, {"allowed", true}};
  EXPECT_EQ(answer(review_of(member(0))), allowed);
  EXPECT_EQ(answer(review_of(pod("alone", 8))), allowed);
  EXPECT_EQ(answer(review_of(member(8), {{"operation", "UPDATE"}})), allowed);
  EXPECT_EQ(answer(review_of({{"spec", 7}}, {{"subResource", "binding"}})), allowed);
}

TEST_F(GateHttp, TheSameForADryRun) {
  EXPECT_EQ(answer(review_of(member(8), {{"dryRun", true}}))["patch"], gate_patch());
}

TEST_F(GateHttp, EveryReplicaAnswersOnAConnectionThatStays) {
  post_and_wait(loop_, [&] { scheduler_.authority().set_waiting_for("starting"); });
  http::Client kept = client();
  for (int i = 0; i < 2; ++i) {
    const auto reply = kept.call("POST", "/admission/gate", review_of(member(8)).dump());
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(Json::parse(reply->body)["response"]["patch"], gate_patch());
  }
  http::Response response;
  post_and_wait(loop_, [&] {
    std::string body = review_of(member(8)).dump();
    response = std::get<http::Response>(front_.handle({{"POST", "/admission/gate", ""}, body}));
  });
  EXPECT_FALSE(response.close);
}

TEST_F(GateHttp, BadBodiesAreErrors) {
  for (const char* body : {"", "{", "[]", "{}", R"({"apiVersion":"admission.k8s.io/v1"})",
                           R"({"apiVersion":"admission.k8s.io/v1","request":{"object":7}})"}) {
    EXPECT_EQ(call("POST", "/admission/gate", body).status, 400) << body;
  }
  EXPECT_EQ(call("POST", "/admission/gate", review_of({{"spec", 7}}).dump()).status, 400);
  EXPECT_EQ(call("POST", "/admission/gate", std::string((1U << 20U) + 1, ' ')).status, 413);
  EXPECT_EQ(call("GET", "/admission/gate").status, 405);
}

TEST_F(GateHttp, InjectsTheRankBesideTheGate) {
  GateOptions options;
  options.inject_rank = true;
  const GateHandler handler(resources_, options);
  const auto patched = [&](const Json& p) {
    std::string body = review_of(p).dump();
    const Json response = Json::parse(handler.review(body).body)["response"];
    if (!response.contains("patch")) return p;
    return p.patch(Json::parse(codec::decode_base64(response["patch"].get<std::string>()).value()));
  };
  const Json spec = patched(member(8))["spec"];
  EXPECT_EQ(spec["containers"][0]["env"],
            Json::parse(R"([{"name":"CHIPWEAVE_RANK","valueFrom":{"fieldRef":{"fieldPath":
                            "metadata.annotations['chipweave.dev/rank']"}}}])"));
  EXPECT_EQ(patched(pod("alone", 8)), pod("alone", 8));
}

TEST_F(SchedHttp, PodsWithGatesWaitInStandaloneMode) {
  add_node("n1", "hgx-v100-8");
  Json p = pod("w-0", 4);
  p["spec"]["schedulingGates"] = Json::parse(R"([{"name":"chipweave.dev/gang"},{"name":"other"}])");
  p = create(p);
  post_and_wait(loop_, [&] {
    const ClusterPod* known = cluster_.find({"ns", "w-0"});
    ASSERT_NE(known, nullptr);
    EXPECT_TRUE(known->gated && known->foreign_gates);
    cluster_.ungate({{"ns", "w-0"}, known->request.uid, {{"chipweave.dev/rank", "3"}}, "n1"},
                    [](const Result<void>& result) { EXPECT_TRUE(result.ok()); });
  });
  const Json shown = Json::parse(call("GET", "/standalone/pods/ns/w-0").body);
  EXPECT_EQ(shown["spec"]["schedulingGates"], Json::parse(R"([{"name":"other"}])"));
  EXPECT_EQ(shown["metadata"]["annotations"]["chipweave.dev/rank"], "3");
  EXPECT_TRUE(shown["spec"].contains("affinity"));
  call("POST", "/kube/filter", args(p, {"n1"}));
  EXPECT_NE(Json::parse(call("POST", "/kube/bind", binding(p, "n1")).body)["Error"], "");
}

}  // namespace
}  // namespace chipweave::sched
