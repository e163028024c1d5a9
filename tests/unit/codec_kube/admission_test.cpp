// AdmissionReviews of Bindings as real API servers sent them, malformed ones, and the patches of
// the answers, applied as RFC 6902 says.
#include "common/codec/kube/requests/admission.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/codec/kube/base64.hpp"
#include "tests/unit/codec_kube/captures.hpp"

namespace chipweave::codec {
namespace {

using Json = nlohmann::json;

const std::map<std::string, std::string> kNotes = {
    {"chipweave.dev/placement", R"({"v":1,"x":"é\n"})"}, {"a~b/c~d", "both escapes"}};

// The Binding that the API server continues with.
Json patched(const Json& binding, const std::string& answer) {
  const Json response = Json::parse(answer)["response"];
  if (!response.contains("patch")) return binding;
  EXPECT_EQ(response["patchType"], "JSONPatch");
  return binding.patch(Json::parse(decode_base64(response["patch"].get<std::string>()).value()));
}

TEST(AdmissionCapture, OfKubeScheduler) {
  REQUIRE_CAPTURE(body, "admission-pods-binding.json");
  const Json sent = Json::parse(body);
  const auto review = read_binding_review(body);
  ASSERT_TRUE(review.ok()) << review.error().text();
  EXPECT_TRUE(review->is_binding);
  EXPECT_FALSE(review->dry_run);
  EXPECT_EQ(review->request_uid, sent["request"]["uid"]);
  EXPECT_EQ(review->ns, "default");
  EXPECT_EQ(review->pod, "os2");
  EXPECT_EQ(review->pod_uid, sent["request"]["object"]["metadata"]["uid"]);
  EXPECT_EQ(review->node, "n1");
  EXPECT_TRUE(review->annotations.empty());
  const std::string answer = write_allowed(*review, "u-1", kNotes);
  EXPECT_EQ(Json::parse(answer)["apiVersion"], "admission.k8s.io/v1");
  EXPECT_EQ(Json::parse(answer)["kind"], "AdmissionReview");
  EXPECT_EQ(Json::parse(answer)["response"]["uid"], review->request_uid);
  EXPECT_EQ(Json::parse(answer)["response"]["allowed"], true);
  Json binding = sent["request"]["object"];
  const Json after = patched(binding, answer);
  binding["metadata"]["annotations"] = kNotes;
  EXPECT_EQ(after, binding);
}

TEST(AdmissionCapture, OfVolcano) {
  REQUIRE_CAPTURE(body, "admission-pods-binding-volcano.json");
  const Json sent = Json::parse(body);
  const auto review = read_binding_review(body);
  ASSERT_TRUE(review.ok()) << review.error().text();
  EXPECT_EQ(review->annotations.at("example.com/user"), "kept");
  Json binding = sent["request"]["object"];
  const Json after = patched(binding, write_allowed(*review, "u-1", kNotes));
  for (const auto& [key, value] : kNotes) binding["metadata"]["annotations"][key] = value;
  EXPECT_EQ(after, binding) << "existing annotations stay";
}

std::string review_of(const std::string& object, const std::string& more = "") {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"r",
    "resource":{"group":"","version":"v1","resource":"pods"},"subResource":"binding",
    "name":"p","namespace":"a","operation":"CREATE")" +
         more + R"(,"object":)" + object + "}}";
}

TEST(Admission, AnEmptyMapOfAnnotationsIsNone) {
  std::string body = review_of(R"({"metadata":{"annotations":{}},"target":{"name":"n"}})");
  const auto review = read_binding_review(body);
  ASSERT_TRUE(review.ok());
  const Json left_out = Json::parse(R"({"metadata":{},"target":{"name":"n"}})");
  EXPECT_EQ(patched(left_out, write_allowed(*review, "u-1", kNotes))["metadata"]["annotations"],
            Json(kNotes));
}

TEST(Admission, OldValuesGiveWayAndWhatIsThereIsNotPatched) {
  Json object = {{"metadata", {{"annotations", kNotes}}}, {"target", {{"name", "n"}}}};
  std::string same = review_of(object.dump());
  EXPECT_FALSE(
      Json::parse(write_allowed(*read_binding_review(same), "", kNotes))["response"].contains(
          "patch"));
  object["metadata"]["annotations"]["chipweave.dev/placement"] = "stale";
  std::string stale = review_of(object.dump());
  EXPECT_EQ(patched(object, write_allowed(*read_binding_review(stale), "",
                                          kNotes))["metadata"]["annotations"],
            Json(kNotes));
  std::string none = review_of(object.dump());
  EXPECT_FALSE(
      Json::parse(write_allowed(*read_binding_review(none), "", {}))["response"].contains("patch"));
}

TEST(Admission, ABindingThatNamesNoPodIsTiedToOne) {
  std::string body = review_of(R"({"metadata":{"name":"p"},"target":{"name":"n"}})");
  const Json binding = Json::parse(R"({"metadata":{"name":"p"},"target":{"name":"n"}})");
  const Json after = patched(binding, write_allowed(*read_binding_review(body), "u-1", kNotes));
  EXPECT_EQ(after["metadata"]["uid"], "u-1");
  EXPECT_EQ(after["metadata"]["annotations"], Json(kNotes));
}

TEST(Admission, AlsoWhereThereIsNothingElseToSay) {
  const Json object = {{"metadata", {{"name", "p"}}}, {"target", {{"name", "n"}}}};
  std::string body = review_of(object.dump());
  EXPECT_EQ(patched(object, write_allowed(*read_binding_review(body), "u-1", {}))["metadata"],
            Json({{"name", "p"}, {"uid", "u-1"}}));
  Json named = object;
  named["metadata"]["uid"] = "u-1";
  std::string with = review_of(named.dump());
  EXPECT_FALSE(
      Json::parse(write_allowed(*read_binding_review(with), "u-1", {}))["response"].contains(
          "patch"));
}

TEST(Admission, WhatIsMissingStaysEmpty) {
  std::string body = review_of(R"({"metadata":{}})");
  const auto review = read_binding_review(body);
  ASSERT_TRUE(review.ok()) << review.error().text();
  EXPECT_TRUE(review->is_binding);
  EXPECT_EQ(review->pod, "p") << "the name in the request";
  EXPECT_EQ(review->ns, "a");
  EXPECT_EQ(review->pod_uid, "");
  EXPECT_EQ(review->node, "");
}

TEST(Admission, KnowsDryRunsTheLegacyResourceAndOtherRequests) {
  std::string dry = review_of("{}", R"(,"dryRun":true)");
  EXPECT_TRUE(read_binding_review(dry)->dry_run);
  const auto with = [](const char* key, const Json& value) {
    Json review = Json::parse(review_of("{}"));
    review["request"][key] = value;
    std::string body = review.dump();
    return read_binding_review(body)->is_binding;
  };
  EXPECT_TRUE(with("operation", "CREATE"));
  EXPECT_FALSE(with("operation", "DELETE"));
  EXPECT_FALSE(with("subResource", "eviction"));
  EXPECT_FALSE(with("resource", {{"group", "x"}, {"resource", "pods"}}));
  Json legacy = Json::parse(review_of("{}"));
  legacy["request"]["resource"]["resource"] = "bindings";
  legacy["request"].erase("subResource");
  std::string body = legacy.dump();
  EXPECT_TRUE(read_binding_review(body)->is_binding);
}

TEST(Admission, SaysWhatIsWrong) {
  const auto expect = [](std::string body, const std::string& part) {
    const auto review = read_binding_review(body);
    ASSERT_FALSE(review.ok()) << body;
    EXPECT_NE(review.error().text().find(part), std::string::npos) << review.error().text();
  };
  expect("", "not valid JSON");
  expect("{}", "not an AdmissionReview");
  expect(R"({"apiVersion":"admission.k8s.io/v1beta1","request":{}})", "not an AdmissionReview");
  expect(R"({"apiVersion":"admission.k8s.io/v1"})", "request is missing");
  expect(R"({"apiVersion":"admission.k8s.io/v1","request":null})", "request is missing");
  expect(R"({"apiVersion":"admission.k8s.io/v1","request":[]})", "request must be an object");
  expect(review_of(R"({"metadata":{"annotations":{"a":1}}})"), "map of strings");
  expect(review_of(R"({"target":{"name":7}})"), "object.target.name must be a string");
  expect(review_of("{}", R"(,"dryRun":"yes")"), "request.dryRun must be true or false");
  expect(review_of(R"({"target":{"name":")" + std::string(300, 'n') + R"("}})"),
         "target.name is longer than 253");
}

TEST(Admission, ARefusalCarriesItsReason) {
  const Json answer = Json::parse(write_denied("r", 409, "no \"room\""));
  EXPECT_EQ(answer["response"]["uid"], "r");
  EXPECT_EQ(answer["response"]["allowed"], false);
  EXPECT_EQ(answer["response"]["status"]["code"], 409);
  EXPECT_EQ(answer["response"]["status"]["message"], "no \"room\"");
}

TEST(Base64, WritesWhatItReads) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
  std::string all;
  for (int i = 0; i < 256; ++i) {
    all += static_cast<char>(i);
    EXPECT_EQ(decode_base64(encode_base64(all)).value(), all);
  }
}

}  // namespace
}  // namespace chipweave::codec
