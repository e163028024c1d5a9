#include "common/codec/kube/dra/prepared_claims.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/stable_hash.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/dra/dra_claim.hpp"

namespace chipweave::codec {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kMaxEdits = 64;  // variables, nodes or names of one device

// Finds torn and edited files. An attacker who can write the file has the host.
std::string sum_of(const std::string& driver, const std::string& pool, std::string_view claims) {
  return hexadecimal(stable_hash(driver + "\n" + pool + "\n" + std::string(claims)));
}

void write_device(JsonWriter& w, const PreparedDevice& device) {
  w.begin_object().field("request", device.request).field("pool", device.pool);
  w.field("device", device.device).field("chip", device.chip);
  w.key("env").strings(device.env);
  w.key("nodes").begin_array();
  for (const CdiNode& node : device.nodes)
    w.begin_object().field("path", node.path).field("hostPath", node.host_path).end_object();
  w.end_array().key("also").strings(device.also).end_object();
}

PreparedDevice read_prepared_device(JsonValue value, JsonProblems& problems) {
  PreparedDevice out;
  const JsonObject device(value, {"request", "pool", "device", "chip", "env", "nodes", "also"},
                          problems);
  if (!device) return out;
  out.request = device.require_text("request").value_or("");
  out.pool = device.require_text("pool").value_or("");
  out.device = device.require_text("device").value_or("");
  out.chip = device.require_text("chip").value_or("");
  for (const char* key : {"env", "nodes", "also"}) device.require(key);
  out.env = device.texts("env", kMaxEdits);
  out.also = device.texts("also", kMaxEdits);
  for (const JsonValue each : device.array("nodes", kMaxEdits)) {
    const JsonObject node(each, {"path", "hostPath"}, problems);
    if (!node) continue;
    out.nodes.push_back(
        {node.require_text("path").value_or(""), node.require_text("hostPath").value_or("")});
  }
  if (out.device.empty()) problems.add(value, "a device without a name");
  return out;
}

PreparedClaim read_prepared_claim(JsonValue value, JsonProblems& problems) {
  PreparedClaim out;
  const JsonObject claim(value, {"namespace", "name", "uid", "devices"}, problems);
  if (!claim) return out;
  out.ns = claim.require_text("namespace").value_or("");
  out.name = claim.require_text("name").value_or("");
  out.uid = claim.require_text("uid").value_or("");
  if (!is_plain_uid(out.uid)) claim.problem("uid", "expected the uid of a claim");
  claim.require("devices");
  for (const JsonValue each : claim.array("devices", kMaxClaimDevices))
    out.devices.push_back(read_prepared_device(each, problems));
  if (out.devices.empty()) claim.problem("devices", "a claim without devices");
  return out;
}

// Each device and each chip belongs to one claim.
bool taken_twice(const PreparedClaims& all) {
  std::set<std::string> devices;
  std::set<std::string> chips;
  for (const auto& [uid, claim] : all.claims) {
    for (const PreparedDevice& device : claim.devices) {
      if (!devices.insert(device.device).second) return true;
      if (!device.chip.empty() && !chips.insert(device.chip).second) return true;
    }
  }
  return false;
}

}  // namespace

bool is_plain_uid(std::string_view uid) {
  return !uid.empty() && uid.size() <= limits::kMaxUidBytes && uid.front() != '-' &&
         std::all_of(uid.begin(), uid.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-';
         });
}

std::string write_prepared_claims(const PreparedClaims& all) {
  JsonWriter list;
  list.begin_array();
  for (const auto& [uid, claim] : all.claims) {
    list.begin_object().field("namespace", claim.ns).field("name", claim.name);
    list.field("uid", uid).key("devices").begin_array();
    for (const PreparedDevice& device : claim.devices) write_device(list, device);
    list.end_array().end_object();
  }
  list.end_array();
  const std::string claims = list.take();
  JsonWriter w;
  w.begin_object().field("version", kVersion).field("driver", all.driver).field("pool", all.pool);
  w.field("checksum", sum_of(all.driver, all.pool, claims)).key("claims").raw(claims).end_object();
  return w.take() + "\n";
}

Result<PreparedClaims> read_prepared_claims(std::string_view text) {
  auto document = parse_json(text, {kMaxPreparedBytes, limits::kMaxJsonValues});
  if (!document) return std::move(document).error();
  JsonProblems problems{JsonValue(*document)};
  // The version alone first: a later one may have any other keys.
  const JsonValue version = JsonValue(*document)["version"];
  if (version.is_integer() && version.integer() != kVersion) {
    return make_error(Errc::invalid_argument, "it has version " + std::string(version.text()) +
                                                  ", and this agent reads version " +
                                                  std::to_string(kVersion));
  }
  const JsonObject root(JsonValue(*document), {"version", "driver", "pool", "checksum", "claims"},
                        problems);
  if (!root) return problems.error();
  root.require_integer("version", kVersion, kVersion);
  PreparedClaims out;
  out.driver = root.require_text("driver").value_or("");
  out.pool = root.require_text("pool").value_or("");
  const std::string sum = root.require_text("checksum").value_or("");
  const JsonValue claims = root.require("claims");
  std::size_t count = 0;
  for (const JsonValue each : root.array("claims", kMaxPreparedClaims)) {
    PreparedClaim claim = read_prepared_claim(each, problems);
    out.claims.insert_or_assign(claim.uid, std::move(claim));
    ++count;
  }
  if (problems.any()) return problems.error();
  if (sum != sum_of(out.driver, out.pool, claims.raw()))
    return make_error(Errc::invalid_argument, "its checksum does not match: it is damaged");
  if (count != out.claims.size() || taken_twice(out))
    return make_error(Errc::invalid_argument, "it has a claim, a device or a chip twice");
  return out;
}

}  // namespace chipweave::codec
