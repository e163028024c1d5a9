// explain_as_text: a JSON answer as lines for people. It knows few keys, so it also shows those
// that come later.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/foreign_text.hpp"
#include "common/codec/json/depth.hpp"
#include "common/codec/manifest/scheduler_messages.hpp"

namespace chipweave::codec {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostItems = 12;

// best_gbps → "best GB/s", lostBy → "lost by", runner_up → "runner up"
std::string in_words(const std::string& key) {
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

std::string scalar(const json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "-";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump();
}

bool fits_one_line(const json& list) {
  return std::all_of(list.begin(), list.end(), [](const json& item) {
    return item.is_number() || (item.is_string() && item.get_ref<const std::string&>().size() < 24);
  });
}

std::string one_line(const json& list) {
  std::string out;
  for (const json& item : list) out += (out.empty() ? "" : ", ") + scalar(item);
  return out.empty() ? "none" : out;
}

bool is_plain(const json& value) {
  return !value.is_structured() || (value.is_array() && fits_one_line(value));
}

void write(const json& value, std::size_t indent, std::string& out);

void write_object(const json& object, std::size_t indent, std::string& out) {
  std::size_t width = 0;
  for (const auto& [key, value] : object.items()) {
    if (is_plain(value)) width = std::max(width, in_words(key).size());
  }
  for (const auto& [key, value] : object.items()) {
    out.append(indent, ' ');
    if (is_plain(value)) {
      out += fmt::format("{:<{}}  {}\n", in_words(key), width,
                         value.is_array() ? one_line(value) : scalar(value));
    } else {
      out += in_words(key) + (value.empty() ? ": none\n" : ":\n");
      write(value, indent + 2, out);
    }
  }
}

void write(const json& value, std::size_t indent, std::string& out) {
  if (value.is_object()) return write_object(value, indent, out);
  if (!value.is_array()) {
    out += fmt::format("{:{}}{}\n", "", indent, scalar(value));
    return;
  }
  std::size_t shown = 0;
  for (const json& item : value) {
    if (++shown > kMostItems) {
      out += fmt::format("{:{}}and {} more (-o json shows all)\n", "", indent,
                         value.size() - kMostItems);
      break;
    }
    if (!item.is_structured()) {
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
  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return {};
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::string> explain_as_text(std::string_view text) {
  if (json_too_deep(text))
    return make_error(Errc::limit_exceeded, "the answer is nested too deeply");
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) {
    return make_error(Errc::invalid_argument,
                      "the answer is no JSON object; is this URL a chipweave-scheduler?");
  }
  std::string out;
  if (const auto summary = value.find("summary"); summary != value.end() && summary->is_string()) {
    const std::string pod = value.contains("pod") ? scalar(value["pod"]) + ": " : "";
    out = pod + scalar(*summary) + "\n";
    value.erase(summary);
    value.erase("pod");
  }
  write(value, 0, out);
  return out;
}

}  // namespace chipweave::codec
