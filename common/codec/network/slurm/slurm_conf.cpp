// Slurm's topology.conf: SwitchName= lines are a tree, BlockName= lines are blocks.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/codec/network/slurm/slurm.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::array<std::string_view, 7> kKeys = {
    "switchname", "switches", "nodes", "linkspeed", "blockname", "blocksizes", "ringname"};

struct Entry {
  std::string where;
  // By kKeys; "" if a key is not given.
  std::array<std::string, kKeys.size()> values;
  std::array<bool, kKeys.size()> given{};

  static std::size_t index(std::string_view key) {
    return static_cast<std::size_t>(std::find(kKeys.begin(), kKeys.end(), key) - kKeys.begin());
  }
  bool has(std::string_view key) const { return given.at(index(key)); }
  const std::string& value(std::string_view key) const { return values.at(index(key)); }
};

// Up to a # outside of quotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

// One key=value off the front of `line`.
Result<void> take_pair(std::string_view& line, Entry& entry) {
  const std::size_t stop = std::min(line.find_first_of("= \t"), line.size());
  const std::string shown(line.substr(0, stop));
  const std::string key = lower_case(shown);
  if (key == "include") {
    return network_error("Include is not supported; put the included lines into this file");
  }
  if (stop == line.size() || line[stop] != '=') {
    return network_error("expected KEY=VALUE, got " + quoted_excerpt(shown));
  }
  const std::size_t index = Entry::index(key);
  if (index == kKeys.size()) {
    return network_error(unknown_name(
        "key", shown, {"SwitchName", "Switches", "Nodes", "LinkSpeed", "BlockName", "BlockSizes"}));
  }
  if (entry.given.at(index)) return network_error("duplicate key " + shown);
  entry.given.at(index) = true;
  line.remove_prefix(stop + 1);
  const bool quoted = line.starts_with('"');
  if (quoted) line.remove_prefix(1);
  const std::size_t end =
      quoted ? line.find('"') : std::min(line.find_first_of(" \t"), line.size());
  if (end == std::string_view::npos) return network_error(shown + "=: missing closing quote");
  entry.values.at(index) = line.substr(0, end);
  line = trim(line.substr(std::min(end + (quoted ? 1 : 0), line.size())));
  return {};
}

Result<Entry> read_entry(std::string_view line, std::string where) {
  Entry entry;
  entry.where = std::move(where);
  while (!line.empty()) {
    if (auto taken = take_pair(line, entry); !taken) {
      return std::move(taken).error().in(entry.where);
    }
  }
  return entry;
}

// Removes comments and joins lines that end in \ with the next one.
Result<std::vector<Entry>> read_entries(std::string_view text) {
  std::vector<Entry> out;
  LineReader lines(text);
  std::string joined;
  std::string where;
  bool open = false;
  for (std::string_view line; lines.next(line);) {
    std::string_view part = trim(without_comment(line));
    if (!open) where = lines.where();
    open = part.ends_with('\\');
    if (open) part.remove_suffix(1);
    joined += part;
    if (open) continue;
    if (!joined.empty()) {
      Result<Entry> entry = read_entry(trim(joined), where);
      if (!entry) return std::move(entry).error();
      out.push_back(*std::move(entry));
    }
    joined.clear();
  }
  if (open) return network_error("the line ends in \\ but no line follows").in(where);
  return out;
}

Result<std::vector<std::int64_t>> read_sizes(const Entry& entry) {
  std::vector<std::int64_t> out;
  const Result<std::vector<std::string>> words = expand_hostlist(entry.value("blocksizes"));
  if (!words) return words.error();
  for (const std::string& word : *words) {
    const auto size = parse_int(word);
    if (!size) {
      return network_error("BlockSizes: expected a number of nodes, got " + quoted_excerpt(word));
    }
    out.push_back(*size);
  }
  return out;
}

struct Parts {
  SwitchTree tree;
  SlurmBlocks blocks;
  std::vector<std::int64_t> sizes;
  std::string sizes_where;
  bool has_switches = false;
};

Result<void> add_entry(const Entry& entry, Parts& parts) {
  if (entry.has("ringname")) {
    return network_error(
        "a ring has no hierarchy of levels; describe the network as a tree or as blocks");
  }
  const bool is_switch = entry.has("switchname");
  const bool is_block = entry.has("blockname");
  if (is_switch && !is_block) {
    parts.has_switches = true;
    return add_slurm_switch(parts.tree, entry.value("switchname"), entry.value("switches"),
                            entry.value("nodes"), entry.where);
  }
  if (is_block && !is_switch) {
    return add_slurm_block(parts.blocks, entry.value("blockname"), entry.value("nodes"),
                           entry.where);
  }
  if (!entry.has("blocksizes")) {
    return network_error("the line must have either SwitchName= or BlockName=");
  }
  Result<std::vector<std::int64_t>> sizes = read_sizes(entry);
  if (!sizes) return std::move(sizes).error();
  if (!parts.sizes.empty()) return network_error("duplicate BlockSizes=");
  parts.sizes = *std::move(sizes);
  parts.sizes_where = entry.where;
  return {};
}

bool looks_like_slurm_conf(std::string_view text) {
  const std::string line = lower_case(first_content_line(text).substr(0, 16));
  return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) {
    return line.starts_with(std::string(key) + "=");
  });
}

Result<domain::NetworkTable> import_slurm_conf(std::string_view text, Warnings& warnings) {
  const Result<std::vector<Entry>> entries = read_entries(text);
  if (!entries) return entries.error();
  Parts parts;
  for (const Entry& entry : *entries) {
    if (auto added = add_entry(entry, parts); !added) {
      Error error = std::move(added).error();
      return error.context.empty() ? std::move(error).in(entry.where) : error;
    }
  }
  if (parts.has_switches && (!parts.blocks.list.empty() || !parts.sizes.empty())) {
    return network_error(
        "the file has both SwitchName= and BlockName= lines; Slurm reads only one kind");
  }
  if (!parts.has_switches && parts.blocks.list.empty()) {
    return not_this_format(kSlurmConfFormat.name, "line SwitchName= or BlockName=");
  }
  if (auto good = parts.tree.require_declared(); !good) return std::move(good).error();
  if (parts.has_switches) return parts.tree.table({}, warnings);
  return slurm_block_table(parts.blocks.list, parts.sizes, parts.sizes_where, warnings);
}

}  // namespace

const TextFormat kSlurmConfFormat{"slurm", looks_like_slurm_conf, import_slurm_conf};

}  // namespace chipweave::codec
