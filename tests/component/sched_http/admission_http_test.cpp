// The webhook on Bindings over real sockets.
#include "common/codec/kube/base64.hpp"
#include "tests/component/sched_http/sched_http.hpp"
#include "tests/unit/codec_kube/captures.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::sched {
namespace {

class AdmissionHttp : public SchedHttp {
 protected:
  static Json review(const Json& p, const std::string& node, bool dry_run = false) {
    return {{"apiVersion", "admission.k8s.io/v1"},
            {"kind", "AdmissionReview"},
            {"request",
             {{"uid", "r-1"},
              {"resource", {{"group", ""}, {"version", "v1"}, {"resource", "pods"}}},
              {"subResource", "binding"},
              {"name", p["metadata"]["name"]},
              {"namespace", "ns"},
              {"operation", "CREATE"},
              {"dryRun", dry_run},
              {"object",
               {{"metadata", {{"name", p["metadata"]["name"]}, {"uid", p["metadata"]["uid"]}}},
                {"target", {{"kind", "Node"}, {"name", node}}}}}}}};
  }
  Json ask(const Json& body) {
    const auto reply = call("POST", "/admission/binding", body.dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    const Json response = Json::parse(reply.body)["response"];
    EXPECT_EQ(response["uid"], body["request"]["uid"]);
    return response;
  }
  static Json patch_of(const Json& response) {
    return Json::parse(codec::decode_base64(response["patch"].get<std::string>()).value());
  }
  std::size_t free_on(int node) {
    return Json::parse(
               call("GET", "/api/v1/nodes").body)["items"][static_cast<std::size_t>(node)]["free"]
        .size();
  }
};

TEST_F(AdmissionHttp, AddsThePlacement) {
  add_node("n1", "hgx-v100-8");
  const Json p = create(pod("a", 4));
  const Json dry = ask(review(p, "n1", true));
  EXPECT_EQ(free_on(0), 8U);
  const Json response = ask(review(p, "n1"));
  EXPECT_EQ(response["allowed"], true);
  const Json patch = patch_of(response);
  ASSERT_EQ(patch.size(), 1U);
  EXPECT_EQ(patch[0]["op"], "add");
  EXPECT_EQ(patch[0]["path"], "/metadata/annotations");
  const Json placement =
      Json::parse(patch[0]["value"]["chipweave.dev/placement"].get<std::string>());
  EXPECT_EQ(placement["node"], "n1");
  EXPECT_EQ(placement["podUid"], p["metadata"]["uid"]);
  EXPECT_EQ(placement["chips"].size(), 4U);
  EXPECT_EQ(free_on(0), 4U);
  EXPECT_EQ(ask(review(p, "n1")), response);
  EXPECT_EQ(
      Json::parse(patch_of(dry)[0]["value"]["chipweave.dev/placement"].get<std::string>())["chips"],
      placement["chips"]);
}

TEST_F(AdmissionHttp, Refuses) {
  add_node("n1", "hgx-v100-8");
  const Json p = create(pod("a", 16));
  const Json response = ask(review(p, "n1"));
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(response["status"]["code"], 409);
  EXPECT_EQ(response["status"]["message"],
            "pod ns/a no longer fits on node n1: the machine has fewer chips than requested");
}

TEST_F(AdmissionHttp, LetsPassWhatIsNotItsBusiness) {
  add_node("n1", "hgx-v100-8");
  const Json allowed = {{"uid", "r-1"}, {"allowed", true}};
  EXPECT_EQ(ask(review(create(pod("none", 0)), "n1")), allowed);
  EXPECT_EQ(ask(review(create(pod("a", 2)), "")), allowed);
  Json other = review(create(pod("b", 2)), "n1");
  other["request"]["subResource"] = "eviction";
  EXPECT_EQ(ask(other), allowed);
  Json unknown = pod("unknown", 2);
  unknown["metadata"]["uid"] = "u";
  EXPECT_EQ(ask(review(unknown, "n1")), allowed);
  EXPECT_EQ(free_on(0), 8U);
}

TEST_F(AdmissionHttp, ItsFailurePolicyDecidesWhileStarting) {
  add_node("n1", "hgx-v100-8");
  const Json p = create(pod("a", 4));
  post_and_wait(loop_, [&] { scheduler_.authority().set_waiting_for("starting"); });
  EXPECT_EQ(call("POST", "/admission/binding", review(p, "n1").dump()).status, 503);
}

TEST_F(AdmissionHttp, BadBodiesAreErrors) {
  for (const char* body : {"", "{", "[]", "{}", R"({"apiVersion":"admission.k8s.io/v1"})",
                           R"({"apiVersion":"admission.k8s.io/v1","request":{"object":7}})"}) {
    EXPECT_EQ(call("POST", "/admission/binding", body).status, 400) << body;
  }
}

TEST_F(AdmissionHttp, TakesWhatAnApiServerSends) {
  for (const char* file : {"admission-pods-binding.json", "admission-pods-binding-volcano.json"}) {
    const auto body = codec::capture(file);
    if (!body) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
    const Json response = ask(Json::parse(*body));
    EXPECT_EQ(response["allowed"], true) << "an unknown pod";
  }
}

}  // namespace
}  // namespace chipweave::sched
