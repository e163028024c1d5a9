#include "common/codec/ranktable/schema/table_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"

namespace chipweave::codec::ranktable {

using domain::ranktable::Extra;
using domain::ranktable::Extras;
using domain::ranktable::Number;
using domain::ranktable::Severity;

namespace {

const char* kind_name(JsonTree::Kind kind) {
  switch (kind) {
    case JsonTree::Kind::object:
      return "an object";
    case JsonTree::Kind::array:
      return "an array";
    case JsonTree::Kind::string:
      return "a string";
    case JsonTree::Kind::number:
      return "a number";
    case JsonTree::Kind::boolean:
      return "true or false";
    case JsonTree::Kind::null:
      return "null";
  }
  return "something else";
}

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kShortNameBytes = 6;

// Members that exist elsewhere in real tables, so they are not typing errors.
constexpr std::array<std::string_view, 34> kElsewhere = {
    "host_ip",      "pod_ip",       "server_ip",    "server_id",      "device_ip",     "device_id",
    "rank_id",      "pod_name",     "tor_ip",       "tor_port",       "dpu_ip",        "numa_id",
    "az_id",        "local_id",     "cluster_id",   "group_id",       "device_port",   "host_port",
    "mgmt_port",    "metric_port",  "predict_port", "device",         "devices",       "rank_list",
    "server_list",  "group_list",   "node_list",    "level_list",     "hardware_type", "status",
    "container_ip", "data_version", "host_nic_ip",  "inter_comm_port"};

// The nearest of `known` within two edits (one for names below 6 bytes). "" if there is none, if
// the name exists elsewhere in real tables, or if it is longer than 64 bytes.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& known) {
  if (name.size() > kMaxNameBytes || name.empty()) return {};
  if (std::find(kElsewhere.begin(), kElsewhere.end(), name) != kElsewhere.end()) return {};
  std::string_view best;
  std::size_t fewest = (name.size() < kShortNameBytes ? 1 : 2) + 1;
  for (const std::string_view each : known) {
    const std::size_t distance = edit_distance(name, each);
    if (distance < fewest) {
      fewest = distance;
      best = each;
    }
  }
  return best;
}

}  // namespace

std::string minified(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) continue;
    out += c;
    if (quoted && c == '\\' && i + 1 < json.size()) {
      out += json[++i];
    } else if (c == '"') {
      quoted = !quoted;
    }
  }
  return out;
}

void TableReader::wrong_type(Id value, const char* wanted) {
  const std::string_view name = tree_.name(value);
  add("RT004", Severity::error, value,
      (name.empty() ? std::string("this") : std::string(name)) + " is " +
          kind_name(tree_.kind(value)) + " and must be " + wanted);
}

Number TableReader::read_odd_number(Id value, Form form, std::string_view rule) {
  const JsonTree::Kind kind = tree_.kind(value);
  const bool wants_number = form == Form::number;
  const bool scalar = kind == JsonTree::Kind::string || kind == JsonTree::Kind::number;
  if (!expect(value, wants_number ? JsonTree::Kind::number : JsonTree::Kind::string,
              wants_number ? "a number without quotes" : "a string in double quotes") &&
      !scalar) {
    return std::nullopt;
  }
  bool zeros = false;
  const Number number = strict_number(tree_.text(value), zeros);
  if (number && !zeros) return number;  // of the wrong type only
  const std::string what = concat(tree_.name(value), " ", in_quotes(tree_.text(value)));
  if (!number) {
    add(rule, Severity::error, value, what + " is not a whole number");
  } else if (zeros) {
    add(rule, Severity::warning, value,
        what + " has leading zeros, which compare unequal to the same number without");
  }
  return number;
}

void TableReader::too_many(Id list) {
  add("RT002", Severity::error, list,
      concat("the table has more than ", kMaxEntries, " entries; what follows was not read"));
}

void TableReader::keep(Id member, std::string_view after, Extras& extras) {
  extras.push_back(
      Extra{std::string(after), std::string(tree_.name(member)), minified(tree_.raw(member))});
}

void TableReader::missing(Id object, std::string_view name) {
  add("RT005", Severity::error, object, "member " + in_quotes(name) + " is missing");
}

void TableReader::look_up_unknown(Id member, const std::vector<std::string_view>& known) {
  if (looked_up_ >= kMaxUnknownLookedUp) return;
  ++looked_up_;
  const std::string_view near = nearest_name(tree_.name(member), known);
  if (near.empty()) return;
  add("RT006", Severity::warning, member,
      "member " + in_quotes(tree_.name(member)) + " is unknown; did you mean " + in_quotes(near) +
          "?");
}

void TableReader::add(std::string_view code, Severity severity, Id node, std::string message) {
  if (!limit_.admit(code)) return;
  findings_.push_back({code, severity, {{node}, {}}, std::nullopt, std::move(message)});
}

}  // namespace chipweave::codec::ranktable
