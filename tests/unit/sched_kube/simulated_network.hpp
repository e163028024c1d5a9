// Internal to SimulatedApi: the requests, watches and timers in flight.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>

#include "tests/unit/sched_kube/simulated_api.hpp"

namespace chipweave::sched::test {

using SimulatedTime = std::chrono::steady_clock::time_point;

struct PendingCall {
  kube::Call call;
  std::function<void(Result<kube::Reply>)> done;
  std::shared_ptr<SimulatedProcess> by;
  SimulatedTime sent;
  bool live = true;
  std::optional<kube::Reply> read{};  // what the server answered already
};
struct OpenWatch {
  std::string path;
  std::string accept;
  kube::StreamSink sink;
  std::shared_ptr<SimulatedProcess> by;
  std::uint64_t from = 0;            // newer changes are sent
  std::vector<std::string> initial;  // lines of a streamed list; an empty one: refuse the watch
  bool expired = false;
  bool live = true;
};
struct SimulatedTimer {
  SimulatedTime at;
  std::function<void()> task;
  std::shared_ptr<bool> live;
  std::shared_ptr<SimulatedProcess> by;
};

// Also holds the objects that have no field in SimulatedApi, and the history that watches replay.
struct SimulatedApi::Network {
  explicit Network(SimulatedApi& of) : api(of) {}

  void changed(ServerPod& pod);
  void record(const std::string& path, const std::string& type, const std::string& object);
  std::vector<std::string> objects(const std::string& path) const;
  void begin(OpenWatch& watch, const std::string& target);
  // The next line for the watch; nothing if it is up to date. An empty line: refuse the watch.
  std::optional<std::string> next_line(OpenWatch& watch);
  // Whether the server does not have the API of that path.
  bool misses(const std::string& path) const;
  bool feed(const std::shared_ptr<OpenWatch>& watch, std::size_t most);

  kube::Reply list(const kube::Call& call, const std::string& path) const;
  kube::Reply answer_pod(const kube::Call& call, const std::string& path);
  kube::Reply patch_pod(const kube::Call& call, ServerPod& pod);
  kube::Reply patch_status(const kube::Call& call, ServerPod& pod);
  kube::Reply bind(const kube::Call& call, const std::string& key, const ServerPod& pod);

  SimulatedApi& api;
  int refusal = 0;
  std::string refusal_message;
  int annotation_refusal = 0;
  std::size_t refused_annotations = 0;
  std::uint64_t oldest = 0;
  std::map<std::string, std::string> inventories;
  std::map<std::string, std::string> nodes;
  std::map<std::string, std::string> claims;
  std::map<std::string, std::string> slices;
  std::map<std::string, std::string> classes;
  std::map<std::string, std::map<std::string, std::string>> documents;  // by path and name
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> history;
  std::list<std::shared_ptr<PendingCall>> calls;
  std::vector<std::pair<kube::Call, SimulatedTime>> detached;
  std::list<std::shared_ptr<OpenWatch>> watches;
  std::vector<SimulatedTimer> timers;
  SimulatedTime now{};
};

// One line of a watch's answer.
std::string watch_line(const std::string& type, const std::string& object);

}  // namespace chipweave::sched::test
