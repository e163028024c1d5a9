// AdmissionReviews of pods as an API server sends them, malformed ones, and the patches of the
// answers, applied as RFC 6902 says.
#include "common/codec/kube/requests/pod_review.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/codec/kube/base64.hpp"

namespace chipweave::codec {
namespace {

using Json = nlohmann::json;

Json pod_object() {
  return Json::parse(R"({"kind":"Pod","apiVersion":"v1","metadata":{"generateName":"w-",
      "namespace":"a","labels":{"x":"y"}},"spec":{"containers":[
        {"name":"bare"},
        {"name":"has","env":[{"name":"A","value":"1"}]},
        {"name":"set","env":[{"name":"RANK","value":"own"}]}],
      "initContainers":[{"name":"first","env":[]}]},"status":{}})");
}

Json review_of_pod(const Json& object, const Json& more = Json::object()) {
  Json request = {{"uid", "r"},
                  {"kind", {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}},
                  {"resource", {{"group", ""}, {"version", "v1"}, {"resource", "pods"}}},
                  {"namespace", "a"},
                  {"operation", "CREATE"},
                  {"object", object},
                  {"oldObject", nullptr},
                  {"dryRun", false}};
  request.update(more);
  return {{"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"request", request}};
}

Result<PodReview> read_review(const Json& review) {
  std::string body = review.dump();
  return read_pod_review(body);
}

Json patch_in(const std::string& answer) {
  const Json response = Json::parse(answer)["response"];
  EXPECT_EQ(response["patchType"], "JSONPatch");
  return Json::parse(decode_base64(response["patch"].get<std::string>()).value());
}

TEST(PodReviews, OfANewPod) {
  auto review = read_review(review_of_pod(pod_object()));
  ASSERT_TRUE(review.ok()) << review.error().text();
  EXPECT_TRUE(review->is_new_pod);
  EXPECT_EQ(review->pod.ns, "a");
  EXPECT_EQ(review->pod.labels.at("x"), "y");
  EXPECT_EQ(write_pod_allowed(*review), R"({"apiVersion":"admission.k8s.io/v1",)"
                                        R"("kind":"AdmissionReview",)"
                                        R"("response":{"uid":"r","allowed":true}})");
}

TEST(PodReviews, AreAnsweredWithAGate) {
  auto review = read_review(review_of_pod(pod_object()));
  ASSERT_TRUE(review.ok());
  const Json patch = patch_in(write_pod_allowed(*review, {"g"}).value());
  EXPECT_EQ(patch, Json::parse(R"([{"op":"add","path":"/spec/schedulingGates",
                                    "value":[{"name":"g"}]}])"));
  Json gated = pod_object();
  gated["spec"]["schedulingGates"] = Json::parse(R"([{"name":"kueue"}])");
  review = read_review(review_of_pod(gated));
  EXPECT_EQ(
      gated.patch(patch_in(write_pod_allowed(*review, {"g"}).value()))["spec"]["schedulingGates"],
      Json::parse(R"([{"name":"kueue"},{"name":"g"}])"));
  gated["spec"]["schedulingGates"] = Json::array();
  review = read_review(review_of_pod(gated));
  EXPECT_EQ(
      gated.patch(patch_in(write_pod_allowed(*review, {"g"}).value()))["spec"]["schedulingGates"],
      Json::parse(R"([{"name":"g"}])"));
}

TEST(PodReviews, AndWithAVariableForContainersWithoutOne) {
  const Json object = pod_object();
  auto review = read_review(review_of_pod(object));
  const Json patch = patch_in(write_pod_allowed(*review, {"g", "RANK", "x.dev/rank"}).value());
  const Json variable = Json::parse(
      R"({"name":"RANK","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['x.dev/rank']"}}})");
  Json expected = object;
  Json& spec = expected["spec"];
  spec["schedulingGates"] = Json::parse(R"([{"name":"g"}])");
  spec["containers"][0]["env"] = Json::array({variable});
  spec["containers"][1]["env"].push_back(variable);
  spec["initContainers"][0]["env"] = Json::array({variable});
  EXPECT_EQ(object.patch(patch), expected);
}

TEST(PodReviews, OfOtherRequestsAreNotRead) {
  const Json no_pod = {{"spec", 7}, {"metadata", "text"}};
  for (const Json& more :
       {Json{{"operation", "UPDATE"}}, Json{{"subResource", "binding"}},
        Json{{"resource", {{"group", "apps"}, {"resource", "pods"}}}},
        Json{{"resource", {{"group", ""}, {"resource", "nodes"}}}}, Json{{"object", nullptr}}}) {
    Json review = review_of_pod(no_pod);
    review["request"].update(more);
    const auto got = read_review(review);
    ASSERT_TRUE(got.ok()) << more << got.error().text();
    EXPECT_FALSE(got->is_new_pod) << more;
    EXPECT_EQ(got->request_uid, "r");
  }
  // the object may come before what says that it is none
  std::string body = R"({"apiVersion":"admission.k8s.io/v1","request":{"object":{"spec":7},
      "operation":"DELETE","resource":{"resource":"pods"}}})";
  EXPECT_FALSE(read_pod_review(body).value().is_new_pod);
}

TEST(PodReviews, ThatAreMalformedAreErrors) {
  const auto problem = [](std::string body) {
    const auto got = read_pod_review(body);
    return got ? std::string("none") : got.error().text();
  };
  const auto contains = [&](const std::string& body, const std::string& text) {
    const std::string got = problem(body);
    EXPECT_NE(got.find(text), std::string::npos) << got;
  };
  for (const char* body : {"", "{", "[]", "7", R"({"apiVersion":"admission.k8s.io/v1",)"})
    EXPECT_NE(problem(body), "none") << body;
  contains("{}", "not an AdmissionReview of admission.k8s.io/v1");
  contains(R"({"apiVersion":"admission.k8s.io/v1beta1","request":{}})", "not an AdmissionReview");
  contains(R"({"apiVersion":"admission.k8s.io/v1"})", "request is missing");
  contains(R"({"apiVersion":"admission.k8s.io/v1","request":null})", "request is missing");
  contains(R"({"apiVersion":"admission.k8s.io/v1","request":{"object":7}})", "request.object");
  contains(review_of_pod({{"spec", 7}}).dump(), "request.object: spec");
  contains(review_of_pod({{"spec", {{"schedulingGates", 7}}}}).dump(), "spec.schedulingGates");
  contains(review_of_pod(pod_object(), {{"uid", std::string(300, 'x')}}).dump(), "request.uid");
  contains(review_of_pod(pod_object(), {{"namespace", std::string(300, 'x')}}).dump(),
           "request.namespace");
  std::string deep(5000, '[');
  EXPECT_NE(problem(R"({"apiVersion":"admission.k8s.io/v1","request":{"operation":"CREATE",)"
                    R"("resource":{"resource":"pods"},"object":{"spec":)" +
                    deep + std::string(5000, ']') + "}}}"),
            "none");
}

TEST(PodReviews, AnEnvironmentThatNoContainerCanHaveIsAnError) {
  Json object = pod_object();
  object["spec"]["containers"][0]["env"] = 7;
  auto review = read_review(review_of_pod(object));
  ASSERT_TRUE(review.ok());
  EXPECT_TRUE(write_pod_allowed(*review, {"g"}).ok());
  const auto answer = write_pod_allowed(*review, {"g", "RANK", "r"});
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().text().find("env"), std::string::npos) << answer.error().text();
}

}  // namespace
}  // namespace chipweave::codec
