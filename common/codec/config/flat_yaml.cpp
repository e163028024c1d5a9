#include "common/codec/config/flat_yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

namespace chipweave::codec {
namespace {

Error at_line(int line, const std::string& what) {
  return make_error(Errc::invalid_argument, "line " + std::to_string(line) + ": " + what);
}

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

Result<ConfigEntry> read_entry(const YAML::Node& key, const YAML::Node& value) {
  if (!key.IsScalar()) return at_line(line_of(key), "a key must be a word");
  ConfigEntry entry;
  entry.key = key.Scalar();
  entry.line = line_of(key);
  if (value.IsScalar()) {
    entry.values.push_back(value.Scalar());
    return entry;
  }
  if (!value.IsSequence()) {
    return at_line(entry.line, "'" + entry.key + "' must have a value or a list of values");
  }
  entry.list = true;
  for (const YAML::Node& element : value) {
    if (!element.IsScalar())
      return at_line(line_of(element), "'" + entry.key + "' must be a list of words");
    entry.values.push_back(element.Scalar());
  }
  return entry;
}

}  // namespace

Result<std::vector<ConfigEntry>> read_flat_yaml(std::string_view text) {
  if (text.size() > kMaxConfigBytes) {
    return make_error(Errc::limit_exceeded,
                      "a configuration has at most " + std::to_string(kMaxConfigBytes) + " bytes");
  }
  if (const std::size_t at = text.find_first_of("&*{"); at != std::string_view::npos) {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return at_line(static_cast<int>(line), "anchors, aliases and {…} maps are not accepted");
  }
  if (std::count(text.begin(), text.end(), '[') > 100) {
    return make_error(Errc::limit_exceeded, "too many lists");
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1)
      return make_error(Errc::invalid_argument, "more than one YAML document");
    std::vector<ConfigEntry> entries;
    if (documents.empty() || documents[0].IsNull()) return entries;
    if (!documents[0].IsMap())
      return at_line(line_of(documents[0]), "the file must be a mapping of keys to values");
    std::set<std::string> seen;
    for (const auto& pair : documents[0]) {
      auto entry = read_entry(pair.first, pair.second);
      if (!entry) return std::move(entry).error();
      if (!seen.insert(entry->key).second)
        return at_line(entry->line, "'" + entry->key + "' is given twice");
      entries.push_back(std::move(*entry));
    }
    return entries;
  } catch (const YAML::Exception& e) {
    return at_line(e.mark.line + 1, e.msg);
  }
}

Result<std::map<std::string, std::string>> parse_flat_yaml(
    std::string_view text, const std::vector<std::string>& known_keys) {
  auto entries = read_flat_yaml(text);
  if (!entries) return std::move(entries).error();
  std::map<std::string, std::string> out;
  for (const ConfigEntry& entry : *entries) {
    if (std::find(known_keys.begin(), known_keys.end(), entry.key) == known_keys.end()) {
      std::string keys;
      for (const std::string& k : known_keys) keys += (keys.empty() ? "" : ", ") + k;
      return at_line(entry.line,
                     "unknown key '" + entry.key.substr(0, 100) + "' (known: " + keys + ")");
    }
    std::string& joined = out[entry.key];
    for (const std::string& value : entry.values) joined += (joined.empty() ? "" : ",") + value;
  }
  return out;
}

}  // namespace chipweave::codec
