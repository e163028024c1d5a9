#include "tests/unit/sched_kube/simulated_claims.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "tests/unit/sched_kube/simulated_objects.hpp"

namespace chipweave::sched::test {
namespace {

constexpr const char* kCollection = "/resourceclaims";

kube::Reply shown(int code, const nlohmann::json& claim) {
  return {code, claim.dump(), std::nullopt};
}

const nlohmann::json& results_of(const nlohmann::json& claim) {
  static constexpr std::array<const char*, 4> kWay = {"status", "allocation", "devices", "results"};
  static const nlohmann::json kNone = nlohmann::json::array();
  const nlohmann::json* at = &claim;
  for (const char* name : kWay) {
    const auto next = at->find(name);
    if (next == at->end()) return kNone;
    at = &*next;
  }
  return *at;
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
  if (call.method == "PATCH") return patch(call, path, version, changed);
  if (call.method == "PUT") return put_status(Json::parse(call.body), version, changed);
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto at = all_.find(name);
  if (at == all_.end()) return status(404, "not found");
  if (call.method == "GET") return shown(200, at->second);
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

void SimulatedClaims::change(Json& claim, std::uint64_t& version, const Changed& changed) {
  touch(claim, version);
  changed("MODIFIED", claim.dump());
}

// A merge patch; of the subresource only its status counts.
kube::Reply SimulatedClaims::patch(const kube::Call& call, const std::string& path,
                                   std::uint64_t& version, const Changed& changed) {
  std::string of = path;
  const bool of_status = of.ends_with("/status");
  if (of_status) of.resize(of.size() - 7);
  const auto at = all_.find(of.substr(of.rfind('/') + 1));
  if (at == all_.end()) return status(404, "not found");
  const Json body = Json::parse(call.body);
  Json& claim = at->second;
  if (body["metadata"]["resourceVersion"] != claim["metadata"]["resourceVersion"] ||
      body["metadata"]["uid"] != claim["metadata"]["uid"])
    return status(409, "the object has been modified");
  Json after = claim;
  after.merge_patch(of_status ? Json{{"status", body["status"]}}
                              : Json{{"metadata", body["metadata"]}});
  const auto allocation = [](const Json& one) {
    return one.value("/status/allocation"_json_pointer, Json());
  };
  const Json was = allocation(claim);
  const Json is = allocation(after);
  if (!was.is_null() && !is.is_null() && was != is)
    return status(422, "status.allocation: field is immutable");
  const bool reserved = !after.value("/status/reservedFor"_json_pointer, Json::array()).empty();
  if (is.is_null() && reserved) return status(422, "reserved, but not allocated");
  const Json finalizers = after["metadata"].value("finalizers", Json::array());
  const bool kept = std::find(finalizers.begin(), finalizers.end(),
                              "resource.kubernetes.io/delete-protection") != finalizers.end();
  // the API server takes these as well, but no controller would end them, or the pod could not be
  // bound
  if (!is.is_null() && (!kept || !reserved || !is.contains("allocationTimestamp")))
    return status(422, "an allocation that nobody ends");
  claim = std::move(after);
  change(claim, version, changed);
  return shown(200, claim);
}

void SimulatedClaims::create(const Wanted& wanted, std::uint64_t& version, const Changed& changed) {
  Json claim;
  claim["metadata"] = {
      {"namespace", "ns"}, {"name", wanted.name}, {"uid", "claim-" + std::to_string(++uids_)}};
  if (!wanted.owner.empty())
    claim["metadata"]["ownerReferences"] = Json::array({{{"uid", wanted.owner}}});
  Json requests = Json::array();
  for (std::size_t i = 0; i < wanted.counts.size(); ++i) {
    requests.push_back({{"name", "r" + std::to_string(i)},
                        {"exactly",
                         {{"deviceClassName", wanted.device_class},
                          {"allocationMode", "ExactCount"},
                          {"count", wanted.counts[i]}}}});
  }
  claim["spec"]["devices"]["requests"] = requests;
  if (!wanted.match.empty())
    claim["spec"]["devices"]["constraints"] = Json::array({{{"matchAttribute", wanted.match}}});
  claim["status"] = Json::object();
  touch(claim, version);
  changed("ADDED", claim.dump());
  all_[wanted.name] = std::move(claim);
}

void SimulatedClaims::end_allocation(const std::string& name, std::uint64_t& version,
                                     const Changed& changed) {
  Json& claim = all_.at(name);
  claim["status"] = Json::object();
  change(claim, version, changed);
}

void SimulatedClaims::remove(const std::string& name, std::uint64_t& version,
                             const Changed& changed) {
  touch(all_.at(name), version);
  changed("DELETED", all_.at(name).dump());
  all_.erase(name);
}

void SimulatedClaims::reserve(const std::string& name, const std::string& pod_uid,
                              std::uint64_t& version, const Changed& changed) {
  Json& claim = all_.at(name);
  for (const Json& one : claim["status"]["reservedFor"]) {
    if (one["uid"] == pod_uid) return;
  }
  claim["status"]["reservedFor"].push_back({{"resource", "pods"}, {"name", "p"}, {"uid", pod_uid}});
  change(claim, version, changed);
}

const nlohmann::json* SimulatedClaims::find(const std::string& name) const {
  const auto at = all_.find(name);
  return at == all_.end() ? nullptr : &at->second;
}

std::vector<std::string> SimulatedClaims::allocated() const {
  std::vector<std::string> out;
  for (const auto& [name, claim] : all_) {
    for (const Json& one : results_of(claim))
      out.push_back(one["pool"].get<std::string>() + "/" + one["device"].get<std::string>());
  }
  return out;
}

std::vector<std::string> SimulatedClaims::allocated_twice() const {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (std::string& device : allocated()) {
    if (!seen.insert(device).second) out.push_back(std::move(device));
  }
  return out;
}

void SimulatedClaims::collect(const std::function<bool(const std::string&)>& pod_exists,
                              std::uint64_t& version, const Changed& changed) {
  for (auto at = all_.begin(); at != all_.end();) {
    const Json& now = at->second;
    const std::string owner =
        now.value("/metadata/ownerReferences/0/uid"_json_pointer, std::string());
    if (owner.empty() || pod_exists(owner)) {
      const Json users = now.value("/status/reservedFor"_json_pointer, Json::array());
      Json left = Json::array();
      for (const Json& one : users) {
        if (pod_exists(one["uid"].get<std::string>())) left.push_back(one);
      }
      if (left.size() < users.size()) {
        if (left.empty()) {
          at->second["status"] = Json::object();
        } else {
          at->second["status"]["reservedFor"] = left;
        }
        change(at->second, version, changed);
      }
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
  for (const Json& one : results_of(at->second)) out.push_back(one["device"]);
  return out;
}

std::vector<std::string> SimulatedClaims::owners() const {
  std::vector<std::string> out;
  for (const auto& [name, claim] : all_)
    out.push_back(claim.value("/metadata/ownerReferences/0/uid"_json_pointer, std::string()));
  return out;
}

}  // namespace chipweave::sched::test
