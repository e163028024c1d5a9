// PodDisruptionBudgets as the API server lists them.
#include "common/codec/kube/objects/disruption_budget.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

std::string budget_list(const std::string& items, const std::string& next = "") {
  return R"({"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","metadata":{"continue":")" +
         next + R"(","resourceVersion":"9"},"items":[)" + items + "]}";
}
// rest: members beside metadata.
std::string budget(const std::string& rest, const std::string& generation = "1") {
  return R"({"metadata":{"name":"b","namespace":"team","generation":)" + generation + "}," + rest +
         "}";
}
const std::string kAllows2 = R"("status":{"disruptionsAllowed":2,"observedGeneration":1})";

std::string selector_of(const std::string& selector) {
  const auto page = read_disruption_budgets(
      budget_list(budget(R"("spec":{"selector":)" + selector + "}," + kAllows2)));
  if (!page) return page.error().text();
  return page->budgets.at(0).selector.value_or("none");
}

TEST(DisruptionBudgets, AreReadPageByPage) {
  const auto page = read_disruption_budgets(budget_list(
      budget(R"("spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}},)" + kAllows2),
      "token"));
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->next, "token");
  ASSERT_EQ(page->budgets.size(), 1U);
  EXPECT_EQ(page->budgets[0].ns, "team");
  EXPECT_EQ(page->budgets[0].name, "b");
  EXPECT_EQ(page->budgets[0].allowed, 2);
  EXPECT_EQ(page->budgets[0].selector, "app%3Dweb");
}

TEST(DisruptionBudgets, AllowNothingUntilTheirStatusIsUpToDate) {
  const auto allowed = [](const std::string& text) {
    const auto page = read_disruption_budgets(budget_list(text));
    return page.ok() ? page->budgets.at(0).allowed : -1;
  };
  EXPECT_EQ(allowed(budget(kAllows2, "2")), 0);
  EXPECT_EQ(allowed(budget(R"("spec":{})")), 0);
  EXPECT_EQ(allowed(budget(R"("status":{"disruptionsAllowed":2})")), 0);
  EXPECT_EQ(allowed(budget(kAllows2)), 2);
}

TEST(DisruptionBudgets, SelectAllTheirNamespaceOrNone) {
  EXPECT_EQ(selector_of("{}"), "");
  EXPECT_EQ(selector_of("null"), "none");
}

TEST(DisruptionBudgets, SelectByExpressions) {
  EXPECT_EQ(selector_of(R"({"matchLabels":{"a/b":"c"},"matchExpressions":[
      {"key":"k","operator":"In","values":["x","y"]},{"key":"l","operator":"NotIn","values":["z"]},
      {"key":"m","operator":"Exists"},{"key":"n","operator":"DoesNotExist"}]})"),
            "a%2Fb%3Dc%2Ck%20in%20%28x%2Cy%29%2Cl%20notin%20%28z%29%2Cm%2C%21n");
}

TEST(DisruptionBudgets, WhatCannotBeReadIsNamed) {
  const auto says = [](const std::string& selector, const char* problem) {
    return selector_of(selector).find(problem) != std::string::npos;
  };
  EXPECT_TRUE(says(R"({"matchExpressions":[{"key":"k","operator":"Like"}]})",
                   "operator: expected In, NotIn, Exists or DoesNotExist"));
  EXPECT_TRUE(says(R"({"matchLabels":{"a":"b&limit=1"}})", "is not a label"));
  EXPECT_TRUE(says(R"({"matchLabels":{"a":7}})", "is not a label"));
  EXPECT_TRUE(says(R"({"matchExpressions":[{"key":"k,","operator":"Exists"}]})",
                   "is not the key of a label"));
  EXPECT_TRUE(says(R"({"matchExpressions":[{"key":"k","operator":"In","values":["a,b"]}]})",
                   "expected values of labels"));
  EXPECT_TRUE(says("7", "selector: expected an object, got "));
  const auto wrong = read_disruption_budgets(
      budget_list(budget(R"("status":{"disruptionsAllowed":"2","observedGeneration":1})")));
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().text().find("disruptionsAllowed"), std::string::npos);
  EXPECT_FALSE(read_disruption_budgets(R"({"kind":"PodList","items":[]})").ok());
  EXPECT_FALSE(read_disruption_budgets("{").ok());
  EXPECT_FALSE(read_disruption_budgets(budget_list("7")).ok());
  EXPECT_FALSE(read_disruption_budgets(budget_list("{}")).ok());
}

TEST(DisruptionBudgets, HaveALimit) {
  std::string many;
  for (std::size_t i = 0; i <= kMaxBudgetsOfPage; ++i)
    many += (many.empty() ? "" : ",") + budget(kAllows2);
  const auto page = read_disruption_budgets(budget_list(many));
  ASSERT_FALSE(page.ok());
  EXPECT_NE(page.error().text().find("items"), std::string::npos);
  std::string values = R"("v")";
  for (std::size_t i = 0; i < kMaxSelectorParts; ++i) values += R"(,"v")";
  const std::string too_many =
      R"({"matchExpressions":[{"key":"k","operator":"In","values":[)" + values + "]}]}";
  EXPECT_NE(selector_of(too_many).find("values"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::codec
