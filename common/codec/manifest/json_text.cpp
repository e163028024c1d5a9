// explain_as_text: a JSON answer as human-readable lines. It treats few keys specially, so it also
// shows keys that are added later.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/manifest/scheduler_messages.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxItems = 12;

// best_gbps → "best GB/s", lostBy → "lost by", runner_up → "runner up"
std::string in_words(std::string_view key) {
  std::string words;
  for (const char c : key) {
    if (c >= 'A' && c <= 'Z' && !words.empty()) {
      words += ' ';
      words += static_cast<char>(c - 'A' + 'a');
    } else {
      words += c == '_' ? ' ' : c;
    }
  }
  if (const std::size_t at = words.find("gbps"); at != std::string::npos) {
    words.replace(at, 4, "GB/s");
  }
  return words;
}

std::string scalar(JsonValue value) {
  if (value.is_string()) return printable(value.text());
  if (value.is_boolean()) return value.boolean().value_or(false) ? "yes" : "no";
  if (value.is_null()) return "-";
  const auto number = value.number();
  return number && !value.is_integer() ? fmt::format("{:.6g}", *number) : std::string(value.raw());
}

bool is_structured(JsonValue value) { return value.is_object() || value.is_array(); }

bool fits_one_line(JsonValue list) {
  return std::all_of(list.begin(), list.end(), [](JsonValue item) {
    return item.is_number() || (item.is_string() && item.text().size() < 24);
  });
}

std::string one_line(JsonValue list) {
  std::string out;
  for (const JsonValue item : list) out += (out.empty() ? "" : ", ") + scalar(item);
  return out.empty() ? "none" : out;
}

bool is_plain(JsonValue value) {
  return !is_structured(value) || (value.is_array() && fits_one_line(value));
}

void write(JsonValue value, std::size_t indent, std::string& out);

void write_members(const std::vector<JsonValue>& members, std::size_t indent, std::string& out) {
  std::size_t width = 0;
  for (const JsonValue value : members) {
    if (is_plain(value)) width = std::max(width, in_words(value.name()).size());
  }
  for (const JsonValue value : members) {
    out.append(indent, ' ');
    if (is_plain(value)) {
      out += fmt::format("{:<{}}  {}\n", in_words(value.name()), width,
                         value.is_array() ? one_line(value) : scalar(value));
    } else {
      out += in_words(value.name()) + (value.empty() ? ": none\n" : ":\n");
      write(value, indent + 2, out);
    }
  }
}

void write(JsonValue value, std::size_t indent, std::string& out) {
  if (value.is_object()) return write_members({value.begin(), value.end()}, indent, out);
  if (!value.is_array()) {
    out += fmt::format("{:{}}{}\n", "", indent, scalar(value));
    return;
  }
  std::size_t shown = 0;
  for (const JsonValue item : value) {
    if (++shown > kMaxItems) {
      out += fmt::format("{:{}}and {} more (-o json shows all)\n", "", indent,
                         value.size() - kMaxItems);
      break;
    }
    if (!is_structured(item)) {
      out += fmt::format("{:{}}- {}\n", "", indent, scalar(item));
      continue;
    }
    std::string inside;
    write(item, indent + 2, inside);
    if (inside.size() > indent) inside[indent] = '-';
    out += inside;
  }
}

}  // namespace

std::string read_text_key(std::string_view text, std::string_view key) {
  const Result<JsonTree> tree = parse_json(text);
  return tree ? JsonValue(*tree)[key].string().value_or("") : std::string();
}

Result<std::string> explain_as_text(std::string_view text) {
  const Result<JsonTree> tree = parse_json(text);
  if (!tree) return tree.error();
  const JsonValue answer(*tree);
  if (!answer.is_object()) {
    return make_error(Errc::invalid_argument,
                      "the answer is not a JSON object; is this URL a chipweave-scheduler?");
  }
  std::string out;
  const bool summarized = answer["summary"].is_string();
  if (summarized) {
    const JsonValue pod = answer["pod"];
    out = (pod ? scalar(pod) + ": " : "") + scalar(answer["summary"]) + "\n";
  }
  std::vector<JsonValue> members;
  for (const JsonValue member : answer) {
    const bool shown = summarized && (member.name() == "summary" || member.name() == "pod");
    if (!shown) members.push_back(member);
  }
  write_members(members, 0, out);
  return out;
}

}  // namespace chipweave::codec
