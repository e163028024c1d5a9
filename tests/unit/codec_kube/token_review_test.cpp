#include "common/codec/kube/objects/token_review.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

Result<TokenOwner> read_review(std::string body) { return read_token_review(body); }

// An answer of the API server (the repeated token is shortened).
const std::string kAccepted =
    R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{"managedFields":[{"x":[1]}]},)"
    R"("spec":{"token":"ey.ab.c","audiences":["chipweave"]},"status":{"authenticated":true,"user":)"
    R"({"username":"system:serviceaccount:ns:sa","uid":"u","groups":["system:serviceaccounts","system:authenticated"],)"
    R"("extra":{"authentication.kubernetes.io/node-name":["n2"]}},"audiences":["chipweave"]}})";

TEST(TokenReview, AsksWithTokenAndAudience) {
  EXPECT_EQ(write_token_review("ey.ab.c", "chip\"weave"),
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",)"
            R"("spec":{"token":"ey.ab.c","audiences":["chip\"weave"]}})");
}

TEST(TokenReview, ReadsWhoItIs) {
  const auto got = read_review(kAccepted);
  ASSERT_TRUE(got.ok()) << got.error().text();
  EXPECT_TRUE(got->authenticated);
  EXPECT_EQ(got->user, "system:serviceaccount:ns:sa");
  EXPECT_EQ(got->groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:authenticated"}));
  EXPECT_EQ(got->audiences, std::vector<std::string>{"chipweave"});
}

TEST(TokenReview, WhatIsNotSaidIsNotSo) {
  for (const char* status :
       {"{}", R"({"user":{}})", R"({"user":{},"error":"[invalid bearer token]"})",
        R"({"authenticated":false,"user":{"username":"x"}})",
        R"({"Authenticated":true})",  // the server spells it differently
        R"({"error":{"authenticated":true}})"}) {
    const auto got = read_review(R"({"kind":"TokenReview","status":)" + std::string(status) + "}");
    ASSERT_TRUE(got.ok()) << status;
    EXPECT_FALSE(got->authenticated) << status;
  }
  // the last of several counts, as a whole
  const auto got =
      read_review(R"({"kind":"TokenReview","status":{"authenticated":true,"user":)"
                  R"({"username":"a","groups":["g"]}},"status":{"user":{"username":"b"}}})");
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(got->authenticated);
  EXPECT_EQ(got->user, "b");
  EXPECT_TRUE(got->groups.empty());
}

TEST(TokenReview, WhatIsNoAnswerIsAnError) {
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), kAccepted + "x",
        std::string(R"({"kind":"TokenReview"})"),
        std::string(R"({"kind":"TokenReview","status":null})"),
        std::string(R"({"kind":"Status","status":"Failure","code":403})"),
        std::string(R"({"kind":"Pod","status":{"authenticated":true}})"),
        std::string(R"({"kind":"TokenReview","status":{"authenticated":"true"}})"),
        std::string(R"({"kind":"TokenReview","status":{"authenticated":1}})"),
        std::string(R"({"kind":"TokenReview","status":{"user":{"username":7}}})"),
        std::string(R"({"kind":"TokenReview","status":{"user":{"groups":"a"}}})"),
        std::string(R"({"kind":"TokenReview","status":{"audiences":[{}]}})"),
        R"({"kind":"TokenReview","status":{"x":)" + std::string(100000, '[')}) {
    EXPECT_FALSE(read_review(bad).ok()) << bad.substr(0, 200);
  }
}

}  // namespace
}  // namespace chipweave::codec
