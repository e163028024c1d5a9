#include "common/codec/yaml/yaml_writer.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace chipweave::codec {
namespace {

// Words that YAML 1.1, which kubectl reads, takes for booleans or null.
constexpr std::array<std::string_view, 9> kOtherTypes = {"true", "false", "null", "yes", "no",
                                                         "on",   "off",   "y",    "n"};

// No YAML reader takes it for anything but a string.
bool is_plain_word(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (text.empty() || !is_letter(text.front())) return false;
  if (!std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '/' || c == '_' ||
               c == '-';
      }))
    return false;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kOtherTypes.begin(), kOtherTypes.end(), lower) == kOtherTypes.end();
}

void write_string(YAML::Emitter& out, std::string_view text) {
  if (!is_plain_word(text)) out << YAML::DoubleQuoted;
  out << std::string(text);
}

void write(YAML::Emitter& out, JsonValue value) {
  if (value.is_object()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const JsonValue member : value) {
      out << YAML::Key;
      write_string(out, member.name());
      out << YAML::Value;
      write(out, member);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const JsonValue item : value) write(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    write_string(out, value.text());
  } else {  // numbers, booleans and null are the same in both
    out << std::string(value.raw());
  }
}

}  // namespace

std::string yaml_text(JsonValue value) {
  YAML::Emitter out;
  write(out, value);
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace chipweave::codec
