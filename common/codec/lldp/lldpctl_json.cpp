// lldpctl -f json0: every element is a list, every text an object {"value": …}:
//   {"lldp":[{"interface":[{"name":"eth0","via":"LLDP","chassis":[{"id":[{"type":"mac","value":…}],
//   "name":[{"value":…}],"mgmt-ip":[{"value":…}]}],"port":[{"id":[{"type":"ifname","value":…}],
//   "descr":[{"value":…}]}]}]}]}
// (lldpd: tests/integration/test_lldpcli.py). A host without neighbours has no "interface".
#include <nlohmann/json.hpp>

#include "common/codec/json/depth.hpp"
#include "common/codec/lldp/lldp.hpp"
#include "common/codec/lldp/lldp_text.hpp"

namespace chipweave::codec {
namespace {

using Json = nlohmann::json;

// The list under a key; empty where there is none.
const Json& list_of(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  if (!object.is_object()) return kNone;
  const auto at = object.find(key);
  return at != object.end() && at->is_array() ? *at : kNone;
}

const Json& first_of(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  const Json& list = list_of(object, key);
  return list.empty() ? kNone : list.front();
}

std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? lldp_text(at->get_ref<const std::string&>()) : "";
}

std::string value_of(const Json& object, const char* key) {
  return text_of(first_of(object, key), "value");
}

LldpNeighbour read_interface(const Json& entry) {
  const Json& chassis = first_of(entry, "chassis");
  const Json& port = first_of(entry, "port");
  LldpNeighbour out;
  out.interface = text_of(entry, "name");
  out.system = value_of(chassis, "name");
  out.address = value_of(chassis, "mgmt-ip");
  out.port = value_of(port, "id");
  if (text_of(first_of(port, "id"), "type") == "mac") {
    if (std::string described = value_of(port, "descr"); !described.empty()) {
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
  if (json_too_deep(text)) return make_error(Errc::limit_exceeded, "lldpctl: nested too deep");
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object() || !document.contains("lldp") ||
      !document["lldp"].is_array()) {
    return make_error(Errc::invalid_argument,
                      "not what lldpctl -f json0 prints: an object with a list \"lldp\"");
  }
  std::vector<LldpNeighbour> out;
  for (const Json& group : document["lldp"]) {
    for (const Json& entry : list_of(group, "interface")) {
      const std::string via = text_of(entry, "via");
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
