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

// The message, with the files of this run in the command of its remedy.
std::string message_of(const Located& finding, const LintFiles& files) {
  const std::string_view remedy = domain::ranktable::rule_of(finding.code).remedy;
  std::string out = finding.message();
  if (remedy.find("'chipweave ") == std::string_view::npos) return out;
  const auto put = [&](std::string_view word, const std::string& file) {
    const std::size_t at = out.find(concat(" ", word, " "), out.size() - remedy.size());
    if (at != std::string::npos) out.replace(at + 1, word.size(), shell_word(file));
  };
  put("FILE", files.table);
  if (!files.network.empty()) put("NETWORK", files.network);
  return out;
}

// SARIF's words.
const char* sarif_level(Severity severity) {
  return severity == Severity::info ? "note" : to_string(severity);
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (std::string_view("\\\"$`").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + '"';
}

std::string render_lint(const LintedText& linted, const LintFiles& files, bool colours) {
  std::string out;
  for (const Located& each : linted.findings) {
    const std::string head = concat(to_string(each.severity), " ", each.code);
    out += printable(place_text(files.table, each.position)) + ": " +
           painted(head, colour_of(each.severity), colours) + ": " +
           printable(message_of(each, files));
    if (each.related) {
      out +=
          concat(" (the other: line ", each.related->line, ", column ", each.related->column, ")");
    }
    out += '\n';
  }
  return out + printable(lint_summary(linted, files.table)) + '\n';
}

std::string lint_json(const LintedText& linted, const LintFiles& files) {
  JsonWriter json;
  json.begin_object().key("dialect");
  if (linted.dialect) {
    json.string(to_string(*linted.dialect));
  } else {
    json.raw("null");
  }
  json.field("file", files.table).key("findings").begin_array();
  for (const Located& each : linted.findings) {
    json.begin_object()
        .field("code", each.code)
        .field("severity", to_string(each.severity))
        .field("where", each.pointer);
    json.field("line", each.position.line).field("column", each.position.column);
    if (each.related) json.field("related_line", each.related->line);
    json.field("message", message_of(each, files)).end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string lint_sarif(const LintedText& linted, const LintFiles& files) {
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
    json.key("message").begin_object().field("text", message_of(each, files)).end_object();
    json.key("locations").begin_array().begin_object().key("physicalLocation").begin_object();
    json.key("artifactLocation").begin_object().field("uri", files.table).end_object();
    json.key("region").begin_object();
    json.field("startLine", each.position.line).field("startColumn", each.position.column);
    json.end_object().end_object().end_object().end_array().end_object();
  }
  json.end_array().end_object().end_array().end_object();
  return json.take() + "\n";
}

}  // namespace chipweave::cli
