// What SimulatedApi is made of: the programs that use it, and its objects.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/base/json_writer.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::sched::testing {

// A program, which can be stopped and goes on.
struct SimulatedProcess {
  // Now, or when it goes on.
  void run(std::function<void()> task) {
    if (!stopped) return task();
    held.push_back(std::move(task));
  }
  void go_on() {
    stopped = false;
    for (const auto& task : std::exchange(held, {})) task();
  }
  bool stopped = false;
  bool cut_off = false;  // no request made `at once` is answered
  std::vector<std::function<void()>> held;
};

struct ServerPod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource;
  int chips = 0;
  std::string node;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  int priority = 0;
  bool ending = false;  // deleted, with its grace period running
  bool started = false;
  std::uint64_t version = 0;

  std::string key() const { return ns + "/" + name; }
};

inline std::string pod_json(const ServerPod& pod) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object();
  w.field("namespace", pod.ns).field("name", pod.name).field("uid", pod.uid);
  w.field("resourceVersion", std::to_string(pod.version));
  if (pod.ending) w.field("deletionTimestamp", "2026-01-02T03:04:05Z");
  w.key("labels").begin_object();
  for (const auto& [name, value] : pod.labels) w.field(name, value);
  w.end_object().key("annotations").begin_object();
  for (const auto& [name, value] : pod.annotations) w.field(name, value);
  w.end_object().end_object().key("spec").begin_object();
  if (!pod.node.empty()) w.field("nodeName", pod.node);
  w.key("priority").integer(pod.priority).key("containers").begin_array();
  w.begin_object().field("name", "c").key("resources").begin_object();
  w.key("limits").begin_object();
  if (pod.chips > 0) w.field(pod.resource, std::to_string(pod.chips));
  w.end_object().end_object().end_object().end_array().end_object();
  w.key("status").begin_object().field("phase", pod.started ? "Running" : "Pending");
  w.end_object().end_object();
  return w.take();
}

// A ResourceClaim to which these devices (driver and pool) are allocated.
inline std::string claim_json(const std::string& name,
                              const std::vector<std::pair<std::string, std::string>>& devices,
                              std::uint64_t version) {
  std::string results;
  for (const auto& [driver, pool] : devices) {
    results += (results.empty() ? "" : ",") + std::string(R"({"request":"r","driver":")") + driver +
               R"(","pool":")" + pool + R"(","device":"gpu-1"})";
  }
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":"c-)" + name +
         R"(","resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{},"status":{"allocation":{"devices":{"results":[)" + results +
         R"(]},"nodeSelector":{}},"reservedFor":[]}})";
}

inline kube::Reply status(int code, const std::string& message) {
  return {
      code,
      R"({"kind":"Status","code":)" + std::to_string(code) + R"(,"message":")" + message + "\"}",
      std::nullopt};
}

// The Leases of a namespace, written only in the version that was read.
struct SimulatedLeases {
  std::map<std::string, nlohmann::json> all;  // by name

  // Of one Lease, or a POST to the namespace's.
  static bool mine(const kube::Call& call, const std::string& path) {
    const bool one = !path.ends_with("/leases");
    return path.find("/leases") != std::string::npos && (one || call.method == "POST");
  }
  kube::Reply answer(const kube::Call& call, const std::string& path, std::uint64_t& version) {
    const bool create = call.method == "POST";
    const auto body = call.body.empty() ? nlohmann::json() : nlohmann::json::parse(call.body);
    const std::string name =
        create ? body["metadata"]["name"].get<std::string>() : path.substr(path.rfind('/') + 1);
    const auto it = all.find(name);
    if (!create && it == all.end()) return status(404, "not found");
    if (create && it != all.end()) return status(409, "already exists");
    if (call.method == "PUT" &&
        body["metadata"]["resourceVersion"] != it->second["metadata"]["resourceVersion"])
      return status(409, "modified");
    if (call.method != "GET") {
      all[name] = body;
      all[name]["metadata"]["uid"] = "lease";
      all[name]["metadata"]["resourceVersion"] = std::to_string(++version);
    }
    return {200, all[name].dump(), std::nullopt};
  }
};

}  // namespace chipweave::sched::testing
