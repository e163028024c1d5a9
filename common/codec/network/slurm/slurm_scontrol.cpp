// What `scontrol show topology` prints: a switch or a block a line, with all nodes below it.
// Written after outputs that users published.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/codec/network/slurm/slurm.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::int64_t kMaxLevel = 1000;
// Every level repeats the nodes below it.
constexpr std::size_t kMaxNames = limits::kMaxNetworkNodes * limits::kMaxNetworkLevels;

struct Record {
  std::string where;
  std::string kind, name;  // "switchname", "blockname" or "aggregatedblock"
  std::int64_t level = 0;  // Level or BlockSize
  std::string_view nodes, switches;
};

std::optional<std::string_view> value_in(const std::vector<std::string_view>& words,
                                         std::string_view key) {
  for (const std::string_view word : words) {
    const std::size_t equals = std::min(word.find('='), word.size());
    if (equals < word.size() && lower_case(std::string(word.substr(0, equals))) == key)
      return word.substr(equals + 1);
  }
  return std::nullopt;
}

// "(null)" is what scontrol prints for nothing.
std::string_view list_in(const std::vector<std::string_view>& words, std::string_view key) {
  const std::string_view list = value_in(words, key).value_or("");
  return list == "(null)" ? std::string_view() : list;
}

Result<Record> read_record(std::string_view line, std::string where) {
  const std::vector<std::string_view> words = split_words(line);
  Record out;
  out.where = std::move(where);
  const std::size_t equals = std::min(words.front().find('='), words.front().size());
  out.kind = lower_case(std::string(words.front().substr(0, equals)));
  const bool known =
      out.kind == "switchname" || out.kind == "blockname" || out.kind == "aggregatedblock";
  if (!known || equals + 1 >= words.front().size()) {
    return network_error("expected SwitchName=, BlockName= or AggregatedBlock=, got " +
                         quoted_excerpt(words.front()));
  }
  out.name = words.front().substr(equals + 1);
  const char* number = out.kind == "switchname" ? "level" : "blocksize";
  const auto text = value_in(words, number);
  const auto value = text ? parse_int(*text) : std::nullopt;
  const std::int64_t most =
      out.kind == "switchname" ? kMaxLevel : static_cast<std::int64_t>(limits::kMaxNetworkDomains);
  if (!value || *value < 0 || *value > most) {
    return network_error(
        concat(number, " must be from 0 to ", most, ", got ", quoted_excerpt(text.value_or(""))));
  }
  out.level = *value;
  out.nodes = list_in(words, "nodes");
  out.switches = list_in(words, "switches");
  return out;
}

Result<std::vector<Record>> read_records(std::string_view text) {
  std::vector<Record> out;
  LineReader lines(text);
  for (std::string_view line; lines.next_trimmed(line);) {
    if (line.empty() || line.starts_with('#')) continue;
    Result<Record> record = read_record(line, lines.where());
    if (!record) return std::move(record).error().in(lines.where());
    if (out.size() == limits::kMaxNetworkDomains)
      return too_many(limits::kMaxNetworkDomains, "switches and blocks");
    out.push_back(*std::move(record));
  }
  return out;
}

// Nodes below the lowest switch that lists them.
Result<domain::NetworkTable> tree_of(std::vector<Record> records, Warnings& warnings) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.level < b.level; });
  SwitchTree tree;
  std::unordered_map<std::string, std::int64_t> lowest;
  std::size_t names = 0;
  for (const Record& record : records) {
    if (auto added = add_slurm_switch(tree, record.name, record.switches, "", record.where); !added)
      return std::move(added).error();
    if (record.nodes.empty()) continue;
    const auto nodes = expand_hostlist(record.nodes);
    if (!nodes) return Error(nodes.error()).in(record.where);
    names += nodes->size();
    if (names > kMaxNames) return too_many(kMaxNames, "names of nodes");
    for (const std::string& node : *nodes) {
      const auto [known, fresh] = lowest.try_emplace(node, record.level);
      if (!fresh && known->second < record.level) continue;
      if (auto done = tree.attach(record.name, {node, {}, {}, {}}, record.where); !done)
        return std::move(done).error();
    }
  }
  return tree.table({}, warnings);
}

bool is_power_of_two(std::int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

// Sizes of levels, where those of the blocks allow any: all equal, larger ones multiples of it.
std::vector<std::int64_t> sizes_of(const std::vector<Record>& records, Warnings& warnings) {
  std::vector<std::int64_t> out;
  std::int64_t base = 0;
  bool usable = true;
  for (const Record& record : records) {
    if (record.kind != "blockname") continue;
    usable = usable && record.level > 0 && (base == 0 || base == record.level);
    base = record.level;
  }
  out.push_back(base);
  for (const Record& record : records) {
    if (record.kind != "aggregatedblock") continue;
    usable = usable && base > 0 && record.level % base == 0 && is_power_of_two(record.level / base);
    out.push_back(record.level);
  }
  if (usable) return out;
  if (out.size() > 1) warnings.add("aggregated blocks are left out: blocks have different sizes");
  return {};
}

Result<domain::NetworkTable> blocks_of(const std::vector<Record>& records, Warnings& warnings) {
  SlurmBlocks blocks;
  std::string sizes_where;
  for (const Record& record : records) {
    if (record.kind != "blockname") {
      sizes_where = record.where;
      continue;
    }
    if (auto added = add_slurm_block(blocks, record.name, record.nodes, record.where); !added)
      return std::move(added).error();
  }
  return slurm_block_table(blocks.list, sizes_of(records, warnings), sizes_where, warnings);
}

// topology.conf has no key Level and no BlockIndex.
bool looks_like_scontrol(std::string_view text) {
  const std::string_view line = first_content_line(text);
  const std::vector<std::string_view> words = split_words(line.substr(0, std::size_t{4} << 10U));
  return value_in(words, "switchname") ? value_in(words, "level").has_value()
                                       : value_in(words, "blockindex").has_value();
}

Result<domain::NetworkTable> import_scontrol(std::string_view text, Warnings& warnings) {
  Result<std::vector<Record>> records = read_records(text);
  if (!records) return std::move(records).error();
  const auto count = [&](std::string_view kind) {
    return std::count_if(records->begin(), records->end(),
                         [kind](const Record& record) { return record.kind == kind; });
  };
  if (count("switchname") > 0 && count("switchname") < static_cast<std::ptrdiff_t>(records->size()))
    return network_error("the file has both switches and blocks: import one topology at a time");
  if (count("switchname") > 0) return tree_of(*std::move(records), warnings);
  if (count("blockname") == 0)
    return not_this_format(kScontrolFormat.name, "line SwitchName= or BlockName=");
  return blocks_of(*records, warnings);
}

}  // namespace

const TextFormat kScontrolFormat{"scontrol", looks_like_scontrol, import_scontrol};

}  // namespace chipweave::codec
