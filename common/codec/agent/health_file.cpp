#include "common/codec/agent/health_file.hpp"

#include <limits>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using nlohmann::json;

Error wrong(const std::string& where, const std::string& why) {
  return make_error(Errc::invalid_argument, where + " " + why);
}

Result<int> number(const json& value, int least, int most, const std::string& where) {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() ||
                     value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) &&
                    value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
  if (!fits) {
    return wrong(where, "must be a whole number between " + std::to_string(least) + " and " +
                            std::to_string(most));
  }
  return value.get<int>();
}

Result<std::vector<domain::ChipIndex>> chips(const json& list, const std::string& key) {
  if (!list.is_array()) return wrong(key, "must be a list of chip indices");
  if (list.size() > static_cast<std::size_t>(limits::kMaxChips)) {
    return make_error(Errc::limit_exceeded, key + " lists " + std::to_string(list.size()) +
                                                " chips, a machine has at most 64");
  }
  std::vector<domain::ChipIndex> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto index =
        number(list[i], 0, std::numeric_limits<int>::max(), key + "[" + std::to_string(i) + "]");
    if (!index) return Error(index.error());
    out.push_back(domain::ChipIndex{*index});
  }
  return out;
}

Result<std::vector<domain::DownLink>> down_links(const json& list) {
  if (!list.is_array()) return wrong("down_links", "must be a list of [a,b] or [a,b,lanes]");
  if (list.size() > limits::kMaxDownLinks) {
    return make_error(Errc::limit_exceeded, "down_links lists more pairs than 64 chips have");
  }
  std::vector<domain::DownLink> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = "down_links[" + std::to_string(i) + "]";
    const json& entry = list[i];
    if (!entry.is_array() || entry.size() < 2 || entry.size() > 3) {
      return wrong(where, "must be [a,b] or [a,b,lanes]");
    }
    const auto a = number(entry[0], 0, std::numeric_limits<int>::max(), where + "[0]");
    if (!a) return Error(a.error());
    const auto b = number(entry[1], 0, std::numeric_limits<int>::max(), where + "[1]");
    if (!b) return Error(b.error());
    if (*a == *b) return wrong(where, "names one chip twice");
    domain::DownLink link{domain::ChipIndex{*a}, domain::ChipIndex{*b}, std::nullopt};
    if (entry.size() == 3) {
      const auto lanes = number(entry[2], 1, limits::kMaxLanes, where + "[2]");
      if (!lanes) return Error(lanes.error());
      link.lanes = *lanes;
    }
    out.push_back(link);
  }
  return out;
}

// The document, or why it is not one object with distinct keys.
Result<json> read_object(std::string_view text) {
  if (text.size() > limits::kMaxHealthFileBytes) {
    return make_error(Errc::limit_exceeded,
                      "the file has " + std::to_string(text.size()) + " bytes, at most " +
                          std::to_string(limits::kMaxHealthFileBytes) + " are read");
  }
  // the JSON parser would take it for the end
  if (text.find('\0') != std::string_view::npos) {
    return make_error(Errc::invalid_argument, "holds a NUL byte");
  }
  std::set<std::string> keys;
  std::string repeated;
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !keys.insert(parsed.get<std::string>()).second) {
      repeated = parsed.get<std::string>();
    }
    too_deep = too_deep || depth > limits::kMaxJsonDepth;
    return depth <= limits::kMaxJsonDepth;
  };
  try {
    json document = json::parse(text, watch);
    if (too_deep) return make_error(Errc::limit_exceeded, "nested too deeply");
    if (!document.is_object()) {
      return make_error(Errc::invalid_argument,
                        R"(must be one JSON object, for example {"unhealthy":[3]})");
    }
    if (!repeated.empty()) return wrong("\"" + repeated + "\"", "is there twice");
    return document;
  } catch (const json::exception& e) {
    return make_error(Errc::invalid_argument, std::string("not JSON: ") + e.what());
  }
}

}  // namespace

Result<domain::DeclaredFaults> parse_health_file(std::string_view text) {
  const auto document = read_object(text);
  if (!document) return Error(document.error());
  domain::DeclaredFaults out;
  for (const auto& [key, value] : document->items()) {
    if (key == "unhealthy" || key == "network_unhealthy") {
      auto list = chips(value, key);
      if (!list) return std::move(list).error();
      (key == "unhealthy" ? out.unhealthy : out.network_unhealthy) = std::move(list).value();
    } else if (key == "down_links") {
      auto list = down_links(value);
      if (!list) return std::move(list).error();
      out.down_links = std::move(list).value();
    } else {
      return wrong("\"" + key.substr(0, 100) + "\"",
                   "is not a key of a health file (unhealthy, network_unhealthy, down_links)");
    }
  }
  return out;
}

}  // namespace chipweave::codec
