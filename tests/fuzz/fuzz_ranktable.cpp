// Rank tables of every dialect: read, lint, fix, write, convert, compare, order.
//
// The first byte selects the dialect (beyond the last one: detected from the members), the second
// the consumer.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/codec/ranktable/canonical.hpp"
#include "common/codec/ranktable/lint/fix.hpp"
#include "common/codec/ranktable/lint/lint_text.hpp"
#include "common/domain/ranktable/convert.hpp"
#include "common/domain/ranktable/diff.hpp"
#include "common/solver/ranks/table_ring.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

namespace codec = chipweave::codec::ranktable;
namespace domain = chipweave::domain::ranktable;
using chipweave::codec::JsonTree;
using chipweave::codec::require;

// What is written is read back unchanged. After a conversion only the meaning is compared: a member
// that was unknown before may be known now, and its place in the table then differs.
void check_written(const domain::RankTable& table) {
  const std::string text = codec::write_table(table);
  auto parsed = JsonTree::parse(text);
  const auto* tree = std::get_if<JsonTree>(&parsed);
  require(tree != nullptr);
  const codec::ReadTable read = codec::read_table(*tree, tree->root(), table.dialect);
  auto again = JsonTree::parse(codec::write_table(read.table));
  const auto* second = std::get_if<JsonTree>(&again);
  require(second != nullptr);
  require(codec::canonical(*second, second->root()) == codec::canonical(*tree, tree->root()));
}

void check_conversions(const domain::RankTable& table) {
  domain::ConvertOptions options;
  options.super_pods["*"] = "0";
  options.prefill_devices = 1;
  options.instance = 0;
  options.prefill_groups = {"2"};
  options.decode_groups = {"3"};
  for (const std::string_view name : domain::dialect_names()) {
    const auto converted = domain::convert(table, *domain::dialect_named(name), options);
    if (!converted) continue;
    for (const domain::RankTable& each : converted->tables) check_written(each);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto dialects = domain::dialect_names();
  const auto profiles = domain::profile_names();
  codec::LintOptions options;
  if (data[0] < dialects.size()) {
    options.dialect = domain::dialect_named(dialects[data[0]]);
  }
  options.profile = *domain::profile_named(profiles[data[1] % profiles.size()]);
  const std::string text(reinterpret_cast<const char*>(data + 2), size - 2);
  const codec::LintedText linted = codec::lint_text(text, options);
  for (const codec::Located& each : linted.findings) {
    require(!each.message().empty() && !domain::rule_of(each.code).title.empty());
    // Below a duplicate name a pointer leads to the first occurrence.
    const bool exact = linted.tree && linted.tree->repeated().empty();
    require(!exact || linted.tree->at(each.pointer) == each.node || each.node == JsonTree::kNone);
  }
  const codec::Fixed fixed = codec::fix(text, options);
  require(!fixed.changes.empty() || fixed.text == text);
  if (!linted.dialect || !linted.tree) return 0;
  require(!codec::canonical(*linted.tree, linted.root).empty());
  check_written(linted.table);
  check_conversions(linted.table);
  require(domain::diff(linted.table, linted.table).empty());
  const auto ring = chipweave::solver::table_ring(linted.table, nullptr);
  require(!ring || ring->order.size() == ring->hosts.size());
  return 0;
}
