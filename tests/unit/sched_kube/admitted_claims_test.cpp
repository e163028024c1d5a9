// Bindings of other schedulers to nodes whose chips are handed over by claims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler-plugin/app/annotations.hpp"
#include "tests/unit/sched_kube/admits.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class AdmittedClaims : public Admits {
 protected:
  void SetUp() override {
    Admits::SetUp();
    world_.shared->enforcement = domain::Enforcement::dra;
    for (const char* node : {"n1", "n2"}) world_.add_node(node, "hgx-v100-8");
    wait(seconds(1));
  }
  // The answer, once the API server has answered all requests for it.
  Result<Admission> answer(const std::string& name, const std::string& node) {
    const Outcome outcome = request(name, node);
    world_.api.settle();
    wait(seconds(1));
    if (!*outcome) return make_error(Errc::internal, "no answer");
    return **outcome;
  }
  std::vector<std::string> devices(const std::string& pod) const {
    return world_.api.pod_claims.devices("chipweave-" + world_.pod(pod).uid);
  }
};

TEST_F(AdmittedClaims, AreMadeBeforeTheAnswer) {
  create("a", 4);
  const Outcome outcome = request("a", "n1");
  EXPECT_FALSE(*outcome) << "the pod may be bound at once";
  world_.api.settle();
  ASSERT_TRUE(*outcome && (*outcome)->ok());
  EXPECT_EQ(devices("a").size(), 4U);
  take("a", "n1", (**outcome)->annotations);
  world_.expect_claims_are_the_annotations();
  wait(seconds(120));
  EXPECT_EQ(devices("a").size(), 4U);
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(AdmittedClaims, AreTheSameWhenTheRequestIsRepeated) {
  create("a", 4);
  const Annotations notes = answer("a", "n1")->annotations;
  const std::vector<std::string> first = devices("a");
  EXPECT_EQ(answer("a", "n1")->annotations, notes);
  EXPECT_EQ(devices("a"), first);
  take("a", "n1", notes);
  world_.expect_claims_are_the_annotations();
}

TEST_F(AdmittedClaims, EndIfTheBindingIsNeverStored) {
  create("a", 4);
  ASSERT_TRUE(answer("a", "n1").ok());
  wait(seconds(240));
  EXPECT_TRUE(world_.api.pod_claims.owners().empty());
  EXPECT_TRUE(world_.held("a").empty());
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
}

TEST_F(AdmittedClaims, AreForOneNode) {
  create("a", 4);
  ASSERT_TRUE(answer("a", "n1").ok());
  const auto other = answer("a", "n2");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().text(), HasSubstr("is being bound to node n1"));
  wait(seconds(240));
  const auto later = answer("a", "n2");
  ASSERT_TRUE(later.ok()) << later.error().text();
  take("a", "n2", later->annotations);
  world_.expect_claims_are_the_annotations();
}

TEST_F(AdmittedClaims, ThatAreRefusedRefuseTheBindingAndFreeTheChips) {
  create("a", 4);
  world_.api.refuse_next_claim(403);
  const auto refused = answer("a", "n1");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().text(), HasSubstr("refuses the claim"));
  wait(seconds(3));
  EXPECT_TRUE(world_.held("a").empty());
  EXPECT_TRUE(world_.api.pod_claims.owners().empty());
  ASSERT_TRUE(answer("a", "n2").ok());
}

TEST_F(AdmittedClaims, AreNotMadeInADryRun) {
  create("a", 4);
  const Outcome outcome = request("a", "n1", true);
  world_.api.settle();
  ASSERT_TRUE(*outcome && (*outcome)->ok());
  EXPECT_TRUE(world_.api.pod_claims.owners().empty());
}

TEST_F(AdmittedClaims, OfOurOwnBindingsAreNotMadeTwice) {
  create("a", 4);
  const auto bound = world_.bind("a", "n1");
  world_.api.settle();
  wait(seconds(1));
  EXPECT_EQ(*bound, "bound");
  EXPECT_EQ(world_.api.pod_claims.owners().size(), 1U);
  world_.expect_claims_are_the_annotations();
}

}  // namespace
}  // namespace chipweave::sched::test
