// Budgets and their pods, as the API server lists them.
#include "scheduler-plugin/kube/gangs/api_evictions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kAllBudgets = "/apis/policy/v1/poddisruptionbudgets?limit=500";

std::string budget_of(const std::string& ns, const std::string& name, const std::string& selector) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns +
         R"(","generation":1},"spec":{"selector":)" + selector +
         R"(},"status":{"disruptionsAllowed":1,"observedGeneration":1}})";
}
std::string budgets_page(const std::string& items, const std::string& next = "") {
  return R"({"kind":"PodDisruptionBudgetList","metadata":{"continue":")" + next +
         R"("},"items":[)" + items + "]}";
}
std::string pods_page(const std::vector<std::string>& uids, const std::string& next = "") {
  std::string items;
  for (const std::string& uid : uids) {
    items += (items.empty() ? "" : ",") +
             std::string(R"({"metadata":{"name":"p","namespace":"a",)") + R"("uid":")" + uid +
             R"(","resourceVersion":"4"}})";
  }
  return R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
         R"({"resourceVersion":"5","continue":")" +
         next + R"("},"items":[)" + items + "]}";
}

class ReadsBudgets : public testing::Test {
 protected:
  void begin() {
    evictions_.budgets({"a", "b"}, [this](Result<Evictions::Budgets> read) {
      ++answers_;
      if (read) {
        budgets_ = *std::move(read);
      } else {
        problem_ = read.error().text();
      }
    });
  }
  kube::ScriptedTransport server_;
  bool leads_ = true;
  ApiEvictions evictions_{server_, [this] { return [this] { return leads_; }; }};
  Evictions::Budgets budgets_;
  std::string problem_;
  int answers_ = 0;
};

TEST_F(ReadsBudgets, OfTheNamespacesWithTheirPods) {
  begin();
  EXPECT_EQ(server_.target, kAllBudgets);
  server_.reply(200, budgets_page(budget_of("other", "x", "{}") + "," +
                                      budget_of("a", "one", R"({"matchLabels":{"app":"web"}})"),
                                  "t/1"));
  EXPECT_EQ(server_.target, kAllBudgets + "&continue=t%2F1");
  server_.reply(200,
                budgets_page(budget_of("b", "all", "{}") + "," + budget_of("b", "none", "null")));
  EXPECT_EQ(server_.target, "/api/v1/namespaces/a/pods?limit=500&labelSelector=app%3Dweb");
  EXPECT_EQ(server_.accept, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  server_.reply(200, pods_page({"u1"}, "t2"));
  EXPECT_EQ(server_.target,
            "/api/v1/namespaces/a/pods?limit=500&labelSelector=app%3Dweb&continue=t2");
  server_.reply(200, pods_page({"u2"}));
  EXPECT_EQ(server_.target, "/api/v1/namespaces/b/pods?limit=500");
  server_.reply(200, pods_page({"u3"}));
  ASSERT_EQ(answers_, 1);
  ASSERT_THAT(budgets_, SizeIs(2));
  EXPECT_EQ(budgets_[0].name, "one");
  EXPECT_EQ(budgets_[0].allowed, 1);
  EXPECT_THAT(budgets_[0].pods, ElementsAre("u1", "u2"));
  EXPECT_THAT(budgets_[1].pods, ElementsAre("u3"));
  EXPECT_EQ(server_.in_flight(), 0);
}

TEST_F(ReadsBudgets, WithoutBudgetsInOneRequest) {
  begin();
  server_.reply(200, budgets_page(""));
  EXPECT_EQ(answers_, 1);
  EXPECT_THAT(budgets_, IsEmpty());
}

TEST_F(ReadsBudgets, AnyFailureIsTold) {
  begin();
  server_.reply(403, R"({"kind":"Status","code":403,"message":"is forbidden"})");
  EXPECT_THAT(problem_, HasSubstr("HTTP 403: is forbidden"));
  begin();
  server_.fail(Errc::deadline, "no answer");
  EXPECT_THAT(problem_, HasSubstr("no answer"));
  begin();
  server_.reply(200, "[]");
  EXPECT_THAT(problem_, HasSubstr("not a PodDisruptionBudgetList"));
  begin();
  server_.reply(200, budgets_page(budget_of("a", "one", "{}")));
  server_.reply(500, "{}");
  EXPECT_THAT(problem_, HasSubstr("pods of a/one: HTTP 500"));
  EXPECT_EQ(answers_, 4);
}

TEST_F(ReadsBudgets, TooManyAreRefused) {
  begin();
  std::string many;
  for (std::size_t i = 0; i < codec::kMaxBudgetsOfPage; ++i)
    many += (many.empty() ? "" : ",") + budget_of("other", "x", "{}");
  for (std::size_t seen = 0; seen <= ApiEvictions::kMaxBudgets && answers_ == 0;
       seen += codec::kMaxBudgetsOfPage)
    server_.reply(200, budgets_page(many, "more"));
  EXPECT_EQ(answers_, 1);
  EXPECT_THAT(problem_, HasSubstr("more than 2000"));
}

TEST_F(ReadsBudgets, ANewQuestionReplacesTheOneBefore) {
  begin();
  begin();
  EXPECT_EQ(server_.in_flight(), 1);
  server_.reply(200, budgets_page(""));
  EXPECT_EQ(answers_, 1);
}

TEST_F(ReadsBudgets, EvictsInTheTermThatAskedForIt) {
  std::optional<Result<void>> result;
  evictions_.evict({"a", "p"}, "u1", Grace::usual, [&](const Result<void>& got) { result = got; });
  EXPECT_EQ(server_.target, "POST /api/v1/namespaces/a/pods/p/eviction");
  leads_ = false;
  EXPECT_FALSE(server_.may_send());
  server_.fail(Errc::unavailable, "not sent");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->error().code, Errc::not_sent);
  EXPECT_EQ(server_.in_flight(), 0);
}

}  // namespace
}  // namespace chipweave::sched::test
