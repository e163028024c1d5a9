#include "tests/unit/sched_kube/simulated_claims.hpp"

#include "tests/unit/sched_kube/simulated_objects.hpp"

namespace chipweave::sched::test {
namespace {

constexpr const char* kCollection = "/resourceclaims";

kube::Reply shown(int code, const nlohmann::json& claim) {
  return {code, claim.dump(), std::nullopt};
}

void touch(nlohmann::json& claim, std::uint64_t& version) {
  claim["metadata"]["resourceVersion"] = std::to_string(++version);
}

}  // namespace

bool SimulatedClaims::mine(const kube::Call& call, const std::string& path) {
  if (path.find("/namespaces/") == std::string::npos) return false;
  if (path.find(kCollection) == std::string::npos) return false;
  return !path.ends_with(kCollection) || call.method == "POST";
}

kube::Reply SimulatedClaims::answer(const kube::Call& call, const std::string& path,
                                    std::uint64_t& version, const Changed& changed) {
  if (call.method == "POST") {
    Json claim = Json::parse(call.body);
    const std::string name = claim["metadata"]["name"];
    if (all_.contains(name)) return status(409, "already exists");
    claim["metadata"]["uid"] = "claim-" + std::to_string(++uids_);
    touch(claim, version);
    all_[name] = claim;
    changed("ADDED", claim.dump());
    return shown(201, claim);
  }
  if (call.method == "PUT") return put_status(Json::parse(call.body), version, changed);
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto at = all_.find(name);
  if (at == all_.end()) return status(404, "not found");
  if (call.method != "DELETE") return shown(200, at->second);
  const Json body = Json::parse(call.body);
  const Json& metadata = at->second["metadata"];
  if (body["preconditions"]["uid"] != metadata["uid"] ||
      body["preconditions"]["resourceVersion"] != metadata["resourceVersion"])
    return status(409, "precondition failed");
  touch(at->second, version);
  changed("DELETED", at->second.dump());
  all_.erase(at);
  return status(200, "");
}

kube::Reply SimulatedClaims::put_status(Json body, std::uint64_t& version, const Changed& changed) {
  const auto at = all_.find(body["metadata"]["name"]);
  if (at == all_.end()) return status(404, "not found");
  Json& claim = at->second;
  if (body["metadata"]["resourceVersion"] != claim["metadata"]["resourceVersion"] ||
      body["metadata"]["uid"] != claim["metadata"]["uid"])
    return status(409, "the object has been modified");
  const auto allocation = [](const Json& of) {
    return of.value("/status/allocation"_json_pointer, Json());
  };
  const Json before = allocation(claim);
  const Json after = allocation(body);
  if (!before.is_null() && !after.is_null() && before != after)
    return status(422, "status.allocation: field is immutable");
  claim["status"] = body["status"];
  touch(claim, version);
  changed("MODIFIED", claim.dump());
  return shown(200, claim);
}

void SimulatedClaims::collect(const std::function<bool(const std::string&)>& pod_exists,
                              std::uint64_t& version, const Changed& changed) {
  for (auto at = all_.begin(); at != all_.end();) {
    if (pod_exists(at->second["metadata"]["ownerReferences"][0]["uid"])) {
      ++at;
      continue;
    }
    touch(at->second, version);
    changed("DELETED", at->second.dump());
    at = all_.erase(at);
  }
}

std::vector<std::string> SimulatedClaims::objects() const {
  std::vector<std::string> out;
  for (const auto& [name, claim] : all_) out.push_back(claim.dump());
  return out;
}

std::vector<std::string> SimulatedClaims::devices(const std::string& name) const {
  std::vector<std::string> out;
  const auto at = all_.find(name);
  if (at == all_.end()) return out;
  for (const Json& one :
       at->second.value("/status/allocation/devices/results"_json_pointer, Json::array()))
    out.push_back(one["device"]);
  return out;
}

std::vector<std::string> SimulatedClaims::owners() const {
  std::vector<std::string> out;
  for (const auto& [name, claim] : all_)
    out.push_back(claim["metadata"]["ownerReferences"][0]["uid"]);
  return out;
}

}  // namespace chipweave::sched::test
