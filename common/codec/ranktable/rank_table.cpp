#include "common/codec/ranktable/rank_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/ranktable/detect.hpp"
#include "common/codec/ranktable/schema/schema.hpp"
#include "common/codec/ranktable/schema/table_reader.hpp"
#include "common/codec/ranktable/schema/table_writer.hpp"

namespace chipweave::codec::ranktable {

namespace {

// hccl_2_0_prerelease is recognised only.
constexpr std::array<std::pair<Dialect, const Schema*>, 13> kSchemas = {{
    {Dialect::hccl_1_0, &kHccl10},
    {Dialect::hccl_1_1, &kHeterogeneous},
    {Dialect::hccl_1_2, &kHccl12},
    {Dialect::hccl_2_0, &kLayered},
    {Dialect::group_list, &kTemplate},
    {Dialect::modelarts_local, &kModelArtsLocal},
    {Dialect::modelarts_global, &kModelArtsGlobal},
    {Dialect::mindie_global, &kMindieGlobal},
    {Dialect::mindie_llm, &kMindieLlm},
    {Dialect::vllm_ascend, &kVllm},
    {Dialect::llm_datadist, &kDataDist},
    {Dialect::mindspore_cluster, &kMindSpore},
    {Dialect::modelarts_1980, &kConfigMap1980},
}};

Finding finding(std::string_view code, Severity severity, JsonTree::Id node, std::string message) {
  return {code, severity, {{node}, {}}, std::nullopt, std::move(message)};
}

void note_repeated(const JsonTree& tree, JsonTree::Id root, Findings& findings) {
  domain::ranktable::FindingLimit limit;
  for (const JsonTree::Id id : tree.repeated()) {
    if (id < root || !limit.admit("RT003")) continue;
    findings.push_back(finding("RT003", Severity::error, id,
                               concat("member \"", tree.name(id), "\" is repeated in one object")));
  }
}

// configmap1980 has a v1, which is the cloud's template, and a v2 with a server_list.
const Schema& schema_for(Dialect dialect, bool group_form) {
  if (group_form) return kTemplate;
  const auto* const at = std::find_if(kSchemas.begin(), kSchemas.end(),
                                      [&](const auto& each) { return each.first == dialect; });
  return at == kSchemas.end() ? kLayered : *at->second;
}

bool is_group_form(const RankTable& table) {
  return table.dialect == Dialect::modelarts_1980 &&
         std::any_of(table.groups.begin(), table.groups.end(),
                     [](const auto& group) { return group.id || group.count; });
}

// The text of a member that every group keeps, taken from the groups.
domain::ranktable::Text taken_from_groups(RankTable& table, std::string_view name) {
  domain::ranktable::Text out;
  for (auto& group : table.groups) {
    const std::string_view text = text_of(group.extras, name);
    if (!text.empty() && !out) out = std::string(text);
    std::erase_if(group.extras, [&](const auto& extra) { return extra.name == name; });
  }
  return out;
}

// A rare variant of global tables has version and status in each group; they are written at the
// top.
void lift_from_groups(RankTable& table, JsonTree::Id node, Findings& findings) {
  if (table.version || table.status) return;
  if (table.dialect != Dialect::modelarts_global && table.dialect != Dialect::mindie_global) return;
  table.version = taken_from_groups(table, "version");
  table.status = taken_from_groups(table, "status");
  if (!table.version && !table.status) return;
  std::erase_if(findings,
                [&](const Finding& f) { return f.code == "RT005" && f.place.object.node == node; });
  findings.push_back(finding("RT007", Severity::warning, node,
                             "version and status are in the groups, not at the top of the table"));
}

Finding unreadable(const JsonTree& tree, JsonTree::Id node, const Detected& detected) {
  if (detected.placeholder) {
    return finding("RT010", Severity::info, node,
                   "a placeholder: the table is not written yet (status \"initializing\")");
  }
  if (!detected.reason.empty()) {
    return finding("RT002", Severity::error, node, detected.reason);
  }
  const std::string inner = find_wrapped(tree, node);
  if (!inner.empty()) {
    return finding("RT002", Severity::error, node,
                   "the rank table is inside, at " + inner + "; use --pointer " + inner);
  }
  return finding(
      "RT002", Severity::error, node,
      "this object has no members of a rank table (server_list, server_group_list, rank_list, "
      "prefill_device_list, group_list, node_list)");
}

}  // namespace

ReadTable read_table(const JsonTree& tree, JsonTree::Id node, std::optional<Dialect> dialect) {
  ReadTable out;
  note_repeated(tree, node, out.findings);
  const Detected detected = detect(tree, node);
  out.dialect = dialect ? dialect : detected.dialect;
  if (!out.dialect || !tree.is(node, JsonTree::Kind::object)) {
    out.dialect.reset();
    out.findings.push_back(unreadable(tree, node, detected));
    return out;
  }
  out.table.dialect = *out.dialect;
  out.table.source.node = node;
  if (*out.dialect == Dialect::hccl_2_0_prerelease) {
    out.findings.push_back(
        finding("RT100", Severity::error, node,
                "written with pre-release member names (level, id, fabric_type, rank_addrs); "
                "the released names are net_layer, net_instance_id, net_type and rank_addr_list"));
    return out;
  }
  const bool group_form =
      *out.dialect == Dialect::modelarts_1980 && tree.member(node, "group_list") != JsonTree::kNone;
  const Schema& schema = schema_for(*out.dialect, group_form);
  TableReader reader(tree, schema, out.findings);
  reader.read_object(node, schema.table, out.table);
  reader.finish(out.table.source);
  lift_from_groups(out.table, node, out.findings);
  return out;
}

Result<JsonTree> parse_document(std::string text) {
  auto parsed = JsonTree::parse(std::move(text));
  if (const auto* mistake = std::get_if<JsonSyntaxError>(&parsed)) {
    return make_error(Errc::invalid_argument, mistake->message).in(mistake->position.text());
  }
  return std::get<JsonTree>(std::move(parsed));
}

Result<RankTable> parse_table(std::string text, std::optional<Dialect> dialect) {
  const auto tree = parse_document(std::move(text));
  if (!tree) return tree.error();
  ReadTable read = read_table(*tree, tree->root(), dialect);
  const auto wrong = std::find_if(read.findings.begin(), read.findings.end(),
                                  [](const Finding& f) { return f.severity == Severity::error; });
  if (wrong != read.findings.end()) {
    const TextPosition at = LineIndex(tree->document()).at(tree->offset(wrong->place.object.node));
    return make_error(Errc::invalid_argument, wrong->message).in(at.text());
  }
  if (!read.dialect) return make_error(Errc::invalid_argument, read.findings.front().message);
  return std::move(read.table);
}

std::string write_table(const RankTable& table, std::optional<std::size_t> indent) {
  const bool compact = table.dialect == Dialect::hccl_1_2 || table.dialect == Dialect::mindie_llm ||
                       table.dialect == Dialect::mindie_global ||
                       table.dialect == Dialect::modelarts_1980;
  const Schema& schema = schema_for(table.dialect, is_group_form(table));
  TableWriter writer(schema, indent.value_or(compact ? 0 : 4));
  writer.write_object(table, schema.table);
  return writer.take();
}

}  // namespace chipweave::codec::ranktable
