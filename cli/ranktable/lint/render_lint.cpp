#include "cli/ranktable/lint/render_lint.hpp"

#include <array>
#include <string_view>

#include "cli/ranktable/table_file.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {

using codec::ranktable::counted;
using codec::ranktable::LintedText;
using codec::ranktable::Located;
using domain::ranktable::Severity;

namespace {

Colour colour_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return Colour::bold;
    case Severity::warning:
      return Colour::yellow;
    case Severity::info:
      return Colour::dim;
  }
  return Colour::none;
}

std::string lint_summary(const LintedText& linted, const std::string& file) {
  std::array<std::size_t, 3> counts{};
  for (const Located& each : linted.findings) ++counts[static_cast<std::size_t>(each.severity)];
  std::string out = file == "-" ? "standard input" : file;
  out += ": ";
  out += linted.dialect ? std::string(to_string(*linted.dialect)) : "no rank table";
  if (linted.dialect) out += ", " + counted(linted.table.rank_count(), "rank");
  if (linted.findings.empty()) return out + ", nothing found";
  return out + ", " + counted(counts[2], "error") + ", " + counted(counts[1], "warning") +
         (counts[0] > 0 ? ", " + counted(counts[0], "note") : "");
}

// SARIF's words.
const char* sarif_level(Severity severity) {
  return severity == Severity::info ? "note" : to_string(severity);
}

}  // namespace

std::string render_lint(const LintedText& linted, const std::string& file, bool colours) {
  std::string out;
  for (const Located& each : linted.findings) {
    const std::string head = concat(to_string(each.severity), " ", each.code);
    out += printable(place_text(file, each.position)) + ": " +
           painted(head, colour_of(each.severity), colours) + ": " + printable(each.message());
    if (each.related) {
      out +=
          concat(" (the other: line ", each.related->line, ", column ", each.related->column, ")");
    }
    out += '\n';
  }
  return out + printable(lint_summary(linted, file)) + '\n';
}

std::string lint_json(const LintedText& linted, const std::string& file) {
  JsonWriter json;
  json.begin_object().key("dialect");
  if (linted.dialect) {
    json.string(to_string(*linted.dialect));
  } else {
    json.raw("null");
  }
  json.field("file", file).key("findings").begin_array();
  for (const Located& each : linted.findings) {
    json.begin_object()
        .field("code", each.code)
        .field("severity", to_string(each.severity))
        .field("where", each.pointer);
    json.field("line", each.position.line).field("column", each.position.column);
    if (each.related) json.field("related_line", each.related->line);
    json.field("message", each.message()).end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string lint_sarif(const LintedText& linted, const std::string& file) {
  JsonWriter json;
  json.begin_object()
      .field("version", "2.1.0")
      .field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.key("runs").begin_array().begin_object();
  json.key("tool").begin_object().key("driver").begin_object().field("name", "chipweave");
  json.key("rules").begin_array();
  for (const auto& rule : domain::ranktable::rules()) {
    json.begin_object().field("id", rule.code).key("shortDescription").begin_object();
    json.field("text", rule.title).end_object();
    json.key("help").begin_object();
    json.field("text", concat(rule.breaks, " ", rule.remedy)).end_object();
    json.end_object();
  }
  json.end_array().end_object().end_object().key("results").begin_array();
  for (const Located& each : linted.findings) {
    json.begin_object().field("ruleId", each.code).field("level", sarif_level(each.severity));
    json.key("message").begin_object().field("text", each.message()).end_object();
    json.key("locations").begin_array().begin_object().key("physicalLocation").begin_object();
    json.key("artifactLocation").begin_object().field("uri", file).end_object();
    json.key("region").begin_object();
    json.field("startLine", each.position.line).field("startColumn", each.position.column);
    json.end_object().end_object().end_object().end_array().end_object();
  }
  json.end_array().end_object().end_array().end_object();
  return json.take() + "\n";
}

}  // namespace chipweave::cli
