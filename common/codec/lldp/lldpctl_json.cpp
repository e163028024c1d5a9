// lldpctl -f json0: every element is a list, every text an object {"value": …}:
//   {"lldp":[{"interface":[{"name":"eth0","via":"LLDP","chassis":[{"id":[{"type":"mac","value":…}],
//   "name":[{"value":…}],"mgmt-ip":[{"value":…}]}],"port":[{"id":[{"type":"ifname","value":…}],
//   "descr":[{"value":…}]}]}]}]}
// (lldpd: tests/integration/test_lldpcli.py). A host without neighbours has no "interface".
#include "common/codec/json/json_object.hpp"
#include "common/codec/lldp/lldp.hpp"
#include "common/codec/lldp/lldp_text.hpp"

namespace chipweave::codec {
namespace {

JsonValue first_of(JsonValue list) {
  return list.is_array() && !list.empty() ? *list.begin() : JsonValue();
}

std::string text_of(JsonValue value) { return value.is_string() ? lldp_text(value.text()) : ""; }

std::string value_of(JsonValue list) { return text_of(first_of(list)["value"]); }

LldpNeighbour read_interface(JsonValue entry) {
  const JsonValue chassis = first_of(entry["chassis"]);
  const JsonValue port = first_of(entry["port"]);
  LldpNeighbour out;
  out.interface = text_of(entry["name"]);
  out.system = value_of(chassis["name"]);
  out.address = value_of(chassis["mgmt-ip"]);
  out.port = value_of(port["id"]);
  if (text_of(first_of(port["id"])["type"]) == "mac") {
    if (std::string described = value_of(port["descr"]); !described.empty()) {
      out.port = std::move(described);
    }
  }
  return out;
}

}  // namespace

Result<std::vector<LldpNeighbour>> parse_lldpctl_json(std::string_view text) {
  if (text.size() > kMaxLldpBytes) {
    return make_error(Errc::limit_exceeded, "lldpctl printed " + std::to_string(text.size()) +
                                                " bytes, at most " + std::to_string(kMaxLldpBytes));
  }
  const Result<JsonTree> document = parse_json(text);
  if (!document) return Error(document.error()).in("lldpctl");
  const JsonValue groups = JsonValue(*document)["lldp"];
  if (!groups.is_array()) {
    return make_error(Errc::invalid_argument,
                      "not what lldpctl -f json0 prints: an object with a list \"lldp\"");
  }
  std::vector<LldpNeighbour> out;
  for (const JsonValue group : groups) {
    const JsonValue interfaces = group["interface"];
    if (!interfaces.is_array()) continue;
    for (const JsonValue entry : interfaces) {
      const std::string via = text_of(entry["via"]);
      if (!via.empty() && via != "LLDP") continue;
      LldpNeighbour one = read_interface(entry);
      if (one.interface.empty() || (one.system.empty() && one.port.empty())) continue;
      if (out.size() == kMaxLldpNeighbours) return out;
      out.push_back(std::move(one));
    }
  }
  return out;
}

}  // namespace chipweave::codec
