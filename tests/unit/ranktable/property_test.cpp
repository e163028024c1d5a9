// Properties of every table of every dialect.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "common/codec/ranktable/canonical.hpp"
#include "common/codec/ranktable/lint/fix.hpp"
#include "common/codec/ranktable/lint/lint_text.hpp"
#include "common/domain/ranktable/convert.hpp"
#include "common/domain/ranktable/diff.hpp"
#include "tests/unit/ranktable/random_table.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::ConvertOptions;
using domain::ranktable::Dialect;
using domain::ranktable::RankTable;
using domain::ranktable::Severity;

constexpr int kRounds = 200;

std::vector<Dialect> dialects() {
  std::vector<Dialect> out;
  for (const std::string_view name : domain::ranktable::dialect_names()) {
    const Dialect dialect = *domain::ranktable::dialect_named(name);
    if (dialect != Dialect::hccl_2_0_prerelease) out.push_back(dialect);
  }
  return out;
}

template <class F>
void for_all(F&& f) {
  std::mt19937 random(7);
  for (const Dialect dialect : dialects()) {
    for (int i = 0; i < kRounds; ++i) {
      SCOPED_TRACE(std::string(to_string(dialect)) + " " + std::to_string(i));
      f(test::random_table(dialect, random), random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

std::string canonical_of(const std::string& text) {
  auto parsed = JsonTree::parse(text);
  const auto& tree = std::get<JsonTree>(parsed);
  return canonical(tree, tree.root());
}

TEST(Property, WriteThenReadGivesTheTableAgain) {
  for_all([](const RankTable& table, std::mt19937& random) {
    const std::string text = write_table(table, random() % 5);
    LintOptions options;
    const LintedText linted = lint_text(text, options);
    EXPECT_EQ(linted.dialect, table.dialect) << text;
    const bool error = std::any_of(linted.findings.begin(), linted.findings.end(),
                                   [](const Located& f) { return f.severity == Severity::error; });
    EXPECT_FALSE(error) << linted.findings.front().message() << "\n" << text;
    EXPECT_EQ(linted.table, table) << text;
    EXPECT_TRUE(domain::ranktable::diff(linted.table, table).empty());
    // Layout and order of members do not matter.
    EXPECT_EQ(canonical_of(text), canonical_of(write_table(table, 0)));
    EXPECT_TRUE(fix(text, options).changes.empty()) << fix(text, options).changes.front();
  });
}

// Texts with a defect that --fix corrects.
std::string damaged(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : std::string(text).replace(at, from.size(), to);
}

TEST(Property, FixMendsWhatIsMechanicalAndNothingElse) {
  std::mt19937 random(11);
  for (int i = 0; i < kRounds; ++i) {
    const RankTable table = test::random_table(Dialect::hccl_1_0, random);
    const std::string good = write_table(table, 2);
    const std::string count = "\"server_count\": \"" + std::to_string(*table.count) + '"';
    LintOptions options;
    // Numbers without quotes, a wrong count, ranks that start at 1.
    EXPECT_EQ(fix(damaged(good, "\"rank_id\": \"0\"", "\"rank_id\": 0"), options).text, good);
    EXPECT_EQ(fix(damaged(good, count, "\"server_count\": \"77\""), options).text, good);
    RankTable shifted = table;
    for (auto& server : shifted.groups[0].servers) {
      for (auto& device : server.devices) ++*device.rank_id;
    }
    EXPECT_EQ(fix(write_table(shifted, 2), options).text, good);
    // Devices and servers listed backwards.
    RankTable backwards = table;
    std::reverse(backwards.groups[0].servers.begin(), backwards.groups[0].servers.end());
    for (auto& server : backwards.groups[0].servers) {
      std::reverse(server.devices.begin(), server.devices.end());
    }
    EXPECT_EQ(parse_table(fix(write_table(backwards, 2), options).text).value(), table);
    // Two tables of one server each, concatenated.
    RankTable restarted = table;
    for (auto& server : restarted.groups[0].servers) {
      std::int64_t rank = 0;
      for (auto& device : server.devices) device.rank_id = rank++;
    }
    EXPECT_EQ(parse_table(fix(write_table(restarted, 2), options).text).value(), table);
  }
}

// The same table in another dialect and back.
void expect_back(const RankTable& table, Dialect other, const ConvertOptions& options) {
  const auto there = domain::ranktable::convert(table, other, options);
  ASSERT_TRUE(there.ok()) << there.error().text();
  const std::string text = write_table(there->tables.front());
  const auto parsed = parse_table(text, other);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text() << text;
  const auto back = domain::ranktable::convert(*parsed, table.dialect, options);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(canonical_of(write_table(back->tables.front())), canonical_of(write_table(table)))
      << text;
}

TEST(Property, ThereAndBackGivesTheSameTable) {
  std::mt19937 random(13);
  for (int i = 0; i < kRounds; ++i) {
    RankTable plain = test::random_table(Dialect::hccl_1_0, random);
    for (auto& server : plain.groups[0].servers) {
      for (auto& device : server.devices) {
        device.device_port.reset();
        device.host_port.reset();
      }
    }
    expect_back(plain, Dialect::modelarts_1980, {});
    ConvertOptions pods;
    pods.super_pods["*"] = "0";
    for (std::size_t s = 0; s < plain.groups[0].servers.size(); ++s) {
      pods.server_indices[*plain.groups[0].servers[s].server_id] = static_cast<std::int64_t>(s);
    }
    expect_back(plain, Dialect::hccl_1_2, pods);
    expect_back(test::random_table(Dialect::modelarts_local, random), Dialect::hccl_1_0, {});
    expect_back(test::random_table(Dialect::mindie_llm, random), Dialect::hccl_1_0, {});
    RankTable super = test::random_table(Dialect::hccl_1_2, random);
    ConvertOptions split;
    if (super.rank_count() > 1) {
      split.prefill_devices = 1;
      for (auto& server : super.groups[0].servers) {
        server.extras.clear();
        server.host_ip.reset();
        for (auto& device : server.devices) {
          device.device_port.reset();
          device.host_port.reset();
        }
      }
      expect_back(super, Dialect::vllm_ascend, split);
    }
  }
}

}  // namespace
}  // namespace chipweave::codec::ranktable
