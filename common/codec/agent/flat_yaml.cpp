#include "common/codec/agent/flat_yaml.hpp"

#include <algorithm>

#include <yaml-cpp/yaml.h>

namespace chipweave::codec {
namespace {

using Texts = std::map<std::string, std::string>;

Error at_line(const YAML::Mark& mark, const std::string& why) {
  return make_error(Errc::invalid_argument, "line " + std::to_string(mark.line + 1) + ": " + why);
}

Result<std::string> value_text(const YAML::Node& value, const std::string& key) {
  if (value.IsScalar()) return value.Scalar();
  if (!value.IsSequence()) return at_line(value.Mark(), key + " must be a text or a list of texts");
  std::string joined;
  for (const YAML::Node& item : value) {
    if (!item.IsScalar()) return at_line(item.Mark(), key + " must be a list of texts");
    if (!joined.empty()) joined += ',';
    joined += item.Scalar();
  }
  return joined;
}

Result<Texts> read_map(const YAML::Node& root, const std::vector<std::string>& known_keys) {
  Texts out;
  if (root.IsNull() || !root.IsDefined()) return out;
  if (!root.IsMap()) return at_line(root.Mark(), "must be a map of \"key: value\" lines");
  for (const auto& entry : root) {
    if (!entry.first.IsScalar()) return at_line(entry.first.Mark(), "a key must be a text");
    const std::string key = entry.first.Scalar();
    if (std::find(known_keys.begin(), known_keys.end(), key) == known_keys.end()) {
      std::string keys;
      for (const std::string& k : known_keys) keys += (keys.empty() ? "" : ", ") + k;
      return at_line(entry.first.Mark(),
                     "unknown key \"" + key.substr(0, 100) + "\" (known: " + keys + ")");
    }
    auto text = value_text(entry.second, key);
    if (!text) return std::move(text).error();
    if (!out.emplace(key, std::move(text).value()).second) {
      return at_line(entry.first.Mark(), "\"" + key + "\" is there twice");
    }
  }
  return out;
}

}  // namespace

Result<Texts> parse_flat_yaml(std::string_view text, const std::vector<std::string>& known_keys) {
  if (text.size() > kMaxConfigBytes) {
    return make_error(Errc::limit_exceeded,
                      "a configuration has at most " + std::to_string(kMaxConfigBytes) + " bytes");
  }
  // Aliases could unfold without end, and nothing here needs them; brackets nest only one deep.
  if (text.find_first_of("&*{") != std::string_view::npos) {
    return make_error(Errc::invalid_argument, "anchors, aliases and {…} maps are not accepted");
  }
  if (std::count(text.begin(), text.end(), '[') > 100) {
    return make_error(Errc::limit_exceeded, "too many lists");
  }
  try {
    return read_map(YAML::Load(std::string(text)), known_keys);
  } catch (const YAML::ParserException& e) {
    return at_line(e.mark, e.msg);
  } catch (const YAML::Exception& e) {
    return make_error(Errc::invalid_argument, e.what());
  }
}

}  // namespace chipweave::codec
