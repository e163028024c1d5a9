#include "tests/unit/sched_kube/simulated_config_maps.hpp"

#include "tests/unit/sched_kube/simulated_objects.hpp"

namespace chipweave::sched::test {
namespace {

bool is_selected(const nlohmann::json& object) {
  static const nlohmann::json::json_pointer kLabel("/metadata/labels/chipweave.dev~1gang-plan");
  return object.is_object() && object.value(kLabel, std::string()) == "1";
}

}  // namespace

bool SimulatedConfigMaps::mine(const kube::Call& call, const std::string& path) {
  return path.starts_with(std::string(kPath) + "/") || (path == kPath && call.method == "POST");
}

void SimulatedConfigMaps::set(const std::string& name, const nlohmann::json& object,
                              std::uint64_t& version, const Changed& changed) {
  const bool there = all.contains(name);
  const nlohmann::json before = there ? all[name] : nlohmann::json();
  nlohmann::json now = object.is_null() ? before : object;
  now["metadata"]["name"] = name;
  now["metadata"]["namespace"] = "chipweave-system";
  now["metadata"]["uid"] =
      there ? before["metadata"]["uid"] : nlohmann::json("map-" + std::to_string(++uids_));
  now["metadata"]["resourceVersion"] = std::to_string(++version);
  if (object.is_null()) {
    all.erase(name);
  } else {
    all[name] = now;
  }
  const bool is = !object.is_null() && is_selected(now);
  const bool was = there && is_selected(before);
  if (is) changed(was ? "MODIFIED" : "ADDED", now.dump());
  if (was && !is) changed("DELETED", now.dump());
}

kube::Reply SimulatedConfigMaps::answer(const kube::Call& call, const std::string& path,
                                        std::uint64_t& version, const Changed& changed) {
  using Json = nlohmann::json;
  if (refuse_writes != 0) return status(refuse_writes, "refused");
  const Json body = Json::parse(call.body);
  if (call.method == "POST") {
    const std::string name = body["metadata"]["name"];
    if (all.contains(name)) return status(409, "already exists");
    set(name, body, version, changed);
    return {201, all[name].dump(), std::nullopt};
  }
  const std::string name = path.substr(path.rfind('/') + 1);
  if (!all.contains(name)) return status(404, "not found");
  const bool erase = call.method == "DELETE";
  const Json of = body.value(erase ? "preconditions" : "metadata", Json::object());
  const Json& there = all[name]["metadata"];
  if (of.value("uid", there["uid"]) != there["uid"] ||
      of.value("resourceVersion", there["resourceVersion"]) != there["resourceVersion"])
    return status(409, "the object has been modified");
  if (erase) {
    set(name, nullptr, version, changed);
    return status(200, "");
  }
  if (call.method != "PATCH") return status(405, "not simulated");
  Json after = all[name];
  after.merge_patch(body);
  if (after != all[name]) set(name, after, version, changed);
  return {200, all[name].dump(), std::nullopt};
}

std::vector<std::string> SimulatedConfigMaps::objects() const {
  std::vector<std::string> out;
  for (const auto& [name, object] : all) {
    if (is_selected(object)) out.push_back(object.dump());
  }
  return out;
}

}  // namespace chipweave::sched::test
