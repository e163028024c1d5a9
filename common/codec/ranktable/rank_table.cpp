#include "common/codec/ranktable/rank_table.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/ranktable/detect.hpp"
#include "common/codec/ranktable/schema/schema.hpp"
#include "common/codec/ranktable/schema/table_reader.hpp"
#include "common/codec/ranktable/schema/table_writer.hpp"

namespace chipweave::codec::ranktable {

const Schema& schema_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::hccl_1_0:
    case Dialect::hccl_1_2:
    case Dialect::mindie_llm:
    case Dialect::llm_datadist:
    case Dialect::mindspore_cluster:
    case Dialect::modelarts_local:
      return server_list_schema(dialect);
    case Dialect::group_list:
    case Dialect::modelarts_global:
    case Dialect::mindie_global:
    case Dialect::modelarts_1980:
      return server_group_schema(dialect);
    default:
      return other_schema(dialect);
  }
}

namespace {

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
  return schema_of(group_form ? Dialect::group_list : dialect);
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

std::string text_of(const TextPosition& at) {
  return concat("line ", at.line, ", column ", at.column);
}

}  // namespace

ReadTable read_table(const JsonTree& tree, JsonTree::Id node, const ReadOptions& options) {
  ReadTable out;
  note_repeated(tree, node, out.findings);
  const Detected detected = detect(tree, node);
  out.dialect = options.dialect ? options.dialect : detected.dialect;
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

Result<RankTable> parse_table(std::string text, const ReadOptions& options) {
  auto parsed = JsonTree::parse(std::move(text));
  if (const auto* mistake = std::get_if<JsonSyntaxError>(&parsed)) {
    return make_error(Errc::invalid_argument, mistake->message).in(text_of(mistake->position));
  }
  const auto& tree = std::get<JsonTree>(parsed);
  ReadTable read = read_table(tree, tree.root(), options);
  const auto wrong = std::find_if(read.findings.begin(), read.findings.end(),
                                  [](const Finding& f) { return f.severity == Severity::error; });
  if (wrong != read.findings.end()) {
    const TextPosition at = LineIndex(tree.document()).at(tree.offset(wrong->place.object.node));
    return make_error(Errc::invalid_argument, wrong->message).in(text_of(at));
  }
  if (!read.dialect) return make_error(Errc::invalid_argument, read.findings.front().message);
  return std::move(read.table);
}

Layout layout_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::hccl_1_2:
    case Dialect::mindie_llm:
    case Dialect::mindie_global:
    case Dialect::modelarts_1980:
      return {0, false};
    default:
      return {4, false};
  }
}

std::string write_table(const RankTable& table, const Layout& layout) {
  const Schema& schema = schema_for(table.dialect, is_group_form(table));
  TableWriter writer(schema, layout);
  writer.write_object(table, schema.table);
  std::string out = writer.take();
  if (layout.newline) out += '\n';
  return out;
}

std::string write_table(const RankTable& table) {
  return write_table(table, layout_of(table.dialect));
}

}  // namespace chipweave::codec::ranktable
