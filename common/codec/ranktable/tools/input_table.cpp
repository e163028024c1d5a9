#include "common/codec/ranktable/tools/input_table.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/rank_table.hpp"

namespace chipweave::codec::ranktable {
namespace {

bool is_counted_in_numbers(const JsonTree& tree, const Finding& finding) {
  const JsonTree::Id node = finding.place.object.node;
  return finding.code == "RT004" && node < tree.size() && tree.name(node) == "server_count" &&
         tree.is(node, JsonTree::Kind::number);
}

// A server_group_list that may be ModelArts' or MindIE's is taken for the wanted one.
ReadTable read_as(const JsonTree& tree, Dialect wanted) {
  ReadTable read = read_table(tree, tree.root());
  const bool open = !read.dialect && wanted == Dialect::modelarts_global &&
                    tree.member(tree.root(), "server_group_list") != JsonTree::kNone;
  return open ? read_table(tree, tree.root(), {wanted}) : read;
}

Result<void> check_count(const InputTable& input, Source object, Number count,
                         std::size_t servers) {
  if (!count || *count == static_cast<std::int64_t>(servers)) return {};
  return input.wrong(object, "server_count is ", *count, ", but server_list has ", servers,
                     " servers: was the file edited by hand?");
}

Result<void> check_whole(const InputTable& input) {
  const auto& table = input.table;
  if (table.status != "completed") {
    return input.wrong(table.source, "status must be \"completed\", got ",
                       in_quotes(table.status.value_or("")),
                       ": wait for the table to be completed, or generate it again");
  }
  if (table.version != "1.0") {
    return input.wrong(table.source, "version must be \"1.0\", got ",
                       in_quotes(table.version.value_or("")));
  }
  if (table.dialect != Dialect::modelarts_global) {
    const std::size_t servers = table.groups.empty() ? 0 : table.groups.front().servers.size();
    return check_count(input, table.source, table.count, servers);
  }
  for (const Group& group : table.groups) {
    Result<void> good = check_count(input, group.source, group.count, group.servers.size());
    if (!good) return good;
  }
  return {};
}

bool fits(Dialect read, Dialect wanted) {
  const bool llm = wanted == Dialect::hccl_1_0 && read == Dialect::mindie_llm;
  return read == wanted || llm;
}

Result<InputTable> read_input(NamedText file, Dialect wanted, std::string_view instead) {
  if (file.text.size() > limits::kMaxRankTableBytes) {
    return make_error(Errc::limit_exceeded, "larger than 40 MiB").in("file " + file.name);
  }
  auto tree = parse_document(std::move(file.text));
  if (!tree) return std::move(tree).error().in("file " + file.name);
  InputTable out{std::move(file.name), *std::move(tree), {}};
  ReadTable read = read_as(out.tree, wanted);
  if (read.dialect && !fits(*read.dialect, wanted)) {
    return out.wrong({}, concat("is a table of dialect ", to_string(*read.dialect), ", not ",
                                to_string(wanted), instead));
  }
  const auto bad = std::find_if(read.findings.begin(), read.findings.end(), [&](const Finding& f) {
    return (f.severity == Severity::error || !read.dialect) && !is_counted_in_numbers(out.tree, f);
  });
  if (bad != read.findings.end()) return out.wrong(bad->place.object, bad->message);
  out.table = std::move(read.table);
  if (Result<void> good = check_whole(out); !good) return std::move(good).error();
  return out;
}

}  // namespace

std::string InputTable::place(Source object) const {
  if (object.node >= tree.size()) return "file " + name;
  const TextPosition at = LineIndex(tree.document()).at(tree.offset(object.node));
  return concat("file ", name, ", line ", at.line);
}

Error InputTable::wrong_text(Source object, std::string message) const {
  Error error = make_error(Errc::invalid_argument, std::move(message));
  if (object.node < tree.size()) {
    const TextPosition at = LineIndex(tree.document()).at(tree.offset(object.node));
    error = std::move(error).in(at.text());
  }
  return std::move(error).in("file " + name);
}

Result<const std::vector<Server>*> InputTable::servers() const {
  if (table.groups.empty() || table.groups.front().servers.empty()) {
    return wrong(table.source, "has no server");
  }
  return &table.groups.front().servers;
}

Result<void> UniqueAddresses::take(const InputTable& input,
                                   const domain::ranktable::Device& device) {
  const std::string address = device.device_ip.value_or("");
  if (address.empty()) return {};
  const std::string key = address + (device.device_port ? concat(":", *device.device_port) : "");
  const auto [first, is_new] = first_.try_emplace(key, Seen{&input, device.source});
  if (is_new) return {};
  return input.wrong(device.source, "device_ip ", in_quotes(key), " is in ", first->second.text(),
                     " too: one of the two tables is outdated or of another machine");
}

Result<std::vector<InputTable>> read_inputs(std::vector<NamedText> files, Dialect wanted,
                                            std::string_view instead) {
  std::unordered_set<std::string> names;
  std::vector<InputTable> out;
  out.reserve(files.size());
  for (NamedText& file : files) {
    if (!names.insert(file.name).second) {
      return make_error(Errc::invalid_argument, "is given twice").in("file " + file.name);
    }
    Result<InputTable> input = read_input(std::move(file), wanted, instead);
    if (!input) return std::move(input).error();
    out.push_back(*std::move(input));
  }
  return out;
}

}  // namespace chipweave::codec::ranktable
