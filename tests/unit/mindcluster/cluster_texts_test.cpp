#include "common/codec/mindcluster/cluster_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace chipweave::codec::mindcluster {
namespace {

ClusterEntry entry_of(const std::string& node, const std::string& what) {
  return {"\"" + node + "\":{\"What\":\"" + what + "\",\"UpdateTime\":", "}", true};
}

std::map<std::string, std::string> copy_of(ClusterTexts& texts) {
  std::map<std::string, std::string> out;
  for (const auto& [name, text] : texts.texts()) out[name] = *text;
  return out;
}

TEST(ClusterTexts, PartsAreCutInNaturalOrderAndHaveThatOfBytesWithin) {
  ClusterTexts texts("p-", 2);
  for (const char* node : {"n10", "n9", "n1"}) texts.put(node, entry_of(node, ""), 5);
  EXPECT_EQ(copy_of(texts),
            (std::map<std::string, std::string>{{"p-0", R"({"n1":{"What":"","UpdateTime":5},)"
                                                        R"("n9":{"What":"","UpdateTime":5}})"},
                                                {"p-1", R"({"n10":{"What":"","UpdateTime":5}})"}}));
  texts.erase("n1");
  EXPECT_EQ(copy_of(texts),
            (std::map<std::string, std::string>{{"p-0", R"({"n10":{"What":"","UpdateTime":5},)"
                                                        R"("n9":{"What":"","UpdateTime":5}})"}}));
  texts.erase("n9");
  texts.erase("n10");
  EXPECT_TRUE(texts.texts().empty());
}

TEST(ClusterTexts, OnlyThePartOfAChangeIsMadeAnew) {
  ClusterTexts texts("p-", 2);
  for (const char* node : {"a", "b", "c", "d"}) texts.put(node, entry_of(node, ""), 5);
  const auto before = texts.texts();
  EXPECT_FALSE(texts.put("c", entry_of("c", ""), 9));
  EXPECT_EQ(texts.texts(), before);
  EXPECT_TRUE(texts.put("c", entry_of("c", "else"), 9));
  EXPECT_EQ(texts.texts().at("p-0"), before.at("p-0"));
  EXPECT_NE(texts.texts().at("p-1"), before.at("p-1"));
  EXPECT_EQ(*before.at("p-1"),
            R"({"c":{"What":"","UpdateTime":5},"d":{"What":"","UpdateTime":5}})");
}

TEST(ClusterTexts, APartAfterTheOtherIsRenewed) {
  ClusterTexts texts("p-", 2);
  for (const char* node : {"a", "b", "c", "d"}) texts.put(node, entry_of(node, ""), 100);
  const auto lives = [](const std::string& node) { return node != "b"; };
  const auto renew = [&](std::int64_t now) { return texts.renew(now, 60, lives); };
  EXPECT_FALSE(renew(100));
  EXPECT_FALSE(renew(159));
  EXPECT_TRUE(renew(160));
  const std::string of_a = R"({"a":{"What":"","UpdateTime":160},"b":{"What":"","UpdateTime":100}})";
  EXPECT_EQ(*texts.texts().at("p-0"), of_a);
  EXPECT_TRUE(renew(165));
  EXPECT_FALSE(renew(170));
  EXPECT_EQ(*texts.texts().at("p-0"), of_a);
  EXPECT_EQ(*texts.texts().at("p-1"),
            R"({"c":{"What":"","UpdateTime":165},"d":{"What":"","UpdateTime":165}})");
  // The clock was set back; times never decrease.
  EXPECT_FALSE(renew(50));
  EXPECT_FALSE(renew(110));
  EXPECT_FALSE(renew(111));
  texts.put("c", entry_of("c", "else"), 50);
  EXPECT_EQ(*texts.texts().at("p-1"),
            R"({"c":{"What":"else","UpdateTime":166},"d":{"What":"","UpdateTime":165}})");
}

// The expected texts, written from scratch.
struct Scratch {
  std::map<std::string, std::pair<std::string, std::int64_t>> nodes;  // what, time

  std::map<std::string, std::string> texts(std::size_t most) const {
    std::vector<std::string> order;
    for (const auto& [node, stored] : nodes) order.push_back(node);
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return natural_less(a, b); });
    std::map<std::string, std::string> out;
    for (std::size_t from = 0; from < order.size(); from += most) {
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(from);
      std::vector<std::string> part(
          begin, begin + static_cast<std::ptrdiff_t>(std::min(most, order.size() - from)));
      std::sort(part.begin(), part.end());
      std::string text;
      for (const std::string& node : part) {
        const auto& [what, time] = nodes.at(node);
        const ClusterEntry entry = entry_of(node, what);
        text += (text.empty() ? "{" : ",") + entry.before + std::to_string(time) + entry.after;
      }
      out["p-" + std::to_string(from / most)] = text + "}";
    }
    return out;
  }
};

TEST(ClusterTextsProperty, StepByStepIsAsFromScratch) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned most) { return random() % most; };
    const std::size_t most = 1 + below(5);
    ClusterTexts texts("p-", most);
    Scratch scratch;
    std::int64_t now = 1000;
    for (int step = 0; step < 400; ++step) {
      const std::string node = (below(2) != 0 ? "n" : "n0") + std::to_string(below(20));
      const bool there = scratch.nodes.contains(node);
      now += static_cast<std::int64_t>(below(4)) - 1;
      if (below(3) == 0) {
        EXPECT_EQ(texts.erase(node), scratch.nodes.erase(node) > 0);
      } else {
        const std::string what = std::to_string(below(3));
        auto& stored = scratch.nodes[node];
        const bool changes = !there || stored.first != what;
        if (changes) stored = {what, there ? std::max(now, stored.second + 1) : now};
        EXPECT_EQ(texts.put(node, entry_of(node, what), now), changes);
      }
      if (below(2) == 0) continue;  // several changes at once
      ASSERT_EQ(copy_of(texts), scratch.texts(most)) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace chipweave::codec::mindcluster
