// FakeApi — an API server in memory behind the Transport: objects with versions, status as
// subresource, lists and watches, many requests and waits at once. Time moves when the test says
// so.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::agent {

class FakeApi final : public kube::Transport {
 public:
  using Json = nlohmann::json;

  explicit FakeApi(ManualClock& clock) : clock_(clock) {}

  std::unique_ptr<kube::Ticket> call(kube::Call call,
                                     std::function<void(Result<kube::Reply>)> done) override {
    log.push_back(call.method + " " + call.target);
    calls_.push_back({std::move(call), std::move(done), std::make_shared<bool>(true)});
    return std::make_unique<Handle>(calls_.back().live);
  }
  // A watch of a whole collection; streaming lists are refused, as by older servers.
  std::unique_ptr<kube::Ticket> stream(std::string target, std::chrono::milliseconds,
                                       kube::StreamSink sink) override {
    log.push_back("WATCH " + target);
    const bool initial = target.find("sendInitialEvents") != std::string::npos;
    watches_.push_back({target.substr(0, target.find('?')), std::move(sink), initial,
                        std::make_shared<bool>(true)});
    return std::make_unique<Handle>(watches_.back().live);
  }
  std::unique_ptr<kube::Ticket> after(std::chrono::milliseconds delay,
                                      std::function<void()> task) override {
    const auto live = std::make_shared<bool>(true);
    timers_.emplace(now() + delay, Timer{std::move(task), live});
    return std::make_unique<Handle>(live);
  }
  std::chrono::steady_clock::time_point now() const override { return clock_.now(); }

  // Answers what is asked until nobody asks any more, and ends the waits of that time.
  void advance(std::chrono::milliseconds by) {
    const auto end = now() + by;
    answer_all();
    while (!timers_.empty() && timers_.begin()->first <= end) {
      const auto due = timers_.extract(timers_.begin());
      if (due.key() > now()) clock_.advance(due.key() - now());
      if (*due.mapped().live) due.mapped().task();
      answer_all();
    }
    clock_.advance(end - now());
  }
  // What somebody else does to an object; watches hear of it.
  void put(const std::string& path, const Json& object) {
    objects[path] = object;
    stored(path, 200);
  }
  // From now on nobody is connected, or all may be again.
  void set_down(bool yes) {
    down = yes;
    if (yes) end_watches();
  }
  // Requests and waits whose tickets live.
  std::size_t under_way() const {
    std::size_t count = 0;
    for (const Pending& call : calls_) count += *call.live ? 1U : 0U;
    for (const Watch& watch : watches_) count += *watch.live ? 1U : 0U;
    for (const auto& [when, timer] : timers_) count += *timer.live ? 1U : 0U;
    return count;
  }

  // What it says to a request, for who brings requests in another way.
  kube::Reply answer(const kube::Call& call) {
    std::string path = call.target.substr(0, call.target.find('?'));
    const Json body = Json::parse(call.body, nullptr, false);
    if (call.method == "POST") {
      path += "/" + body["metadata"]["name"].get<std::string>();
      if (objects.count(path) == 1) return {409, "already exists", std::nullopt};
      objects[path] = body;
      objects[path]["metadata"]["uid"] = "uid-" + std::to_string(++version_);
      return stored(path, 201);
    }
    if (call.target.find("limit=") != std::string::npos) return list(path);
    const bool status = path.ends_with("/status");
    if (status) path.erase(path.rfind('/'));
    const auto found = objects.find(path);
    if (found == objects.end()) return {404, "not found", std::nullopt};
    if (call.method == "GET") return {200, found->second.dump(), std::nullopt};
    if (call.method == "DELETE") return removed(path, body);
    if (body["metadata"]["resourceVersion"] != found->second["metadata"]["resourceVersion"])
      return {409, "modified", std::nullopt};
    if (status) {
      found->second["status"] = body["status"];
    } else {
      found->second.merge_patch(body);  // as good as a PUT where no key is ever removed
    }
    return stored(path, 200);
  }

  std::map<std::string, Json> objects;   // by path
  std::vector<std::string> log;          // method and target of every request
  bool down = false;                     // no connection
  std::function<void(Json&)> admission;  // changes what is about to be stored
  std::string unanswered;                // requests whose target holds this get no answer

 private:
  struct Handle final : kube::Ticket {
    explicit Handle(std::shared_ptr<bool> l) : live(std::move(l)) {}
    ~Handle() override { *live = false; }
    std::shared_ptr<bool> live;
  };
  struct Pending {
    kube::Call call;
    std::function<void(Result<kube::Reply>)> done;
    std::shared_ptr<bool> live;
  };
  struct Timer {
    std::function<void()> task;
    std::shared_ptr<bool> live;
  };

  struct Watch {
    std::string path;
    kube::StreamSink sink;
    bool refused = false;
    std::shared_ptr<bool> live;
  };

  void end_watches() {
    for (const Watch& watch : std::exchange(watches_, {})) {
      if (*watch.live) watch.sink.ended(make_error(Errc::unavailable, "cut"));
    }
  }
  // Watches that cannot be had.
  void refuse_watches() {
    if (down) return end_watches();
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      if (!std::exchange(watches_[i].refused, false)) continue;
      const Watch watch = watches_[i];
      if (*watch.live) watch.sink.refused({400, "no streaming lists here", std::nullopt});
    }
  }
  void tell_watches(const char* type, const std::string& path) {
    // The type first, as the real one has it.
    events_.push_back({path, std::string(R"({"type":")") + type + R"(","object":)" +
                                 objects[path].dump() + "}\n"});
  }
  void send_events() {
    while (!events_.empty()) {
      const auto [path, line] = events_.front();
      events_.pop_front();
      for (std::size_t i = 0; i < watches_.size(); ++i) {
        const Watch watch = watches_[i];
        if (*watch.live && path.starts_with(watch.path + "/")) watch.sink.bytes(line);
      }
    }
  }

  void answer_all() {
    refuse_watches();
    send_events();
    std::deque<Pending> held;
    while (!calls_.empty()) {
      Pending next = std::move(calls_.front());
      calls_.pop_front();
      if (!*next.live) continue;
      if (!unanswered.empty() && next.call.target.find(unanswered) != std::string::npos) {
        held.push_back(std::move(next));
      } else if (down || (next.call.may_send && !next.call.may_send())) {
        next.done(make_error(Errc::unavailable, down ? "connection refused" : "called off"));
      } else {
        next.done(answer(next.call));
      }
      refuse_watches();
      send_events();
    }
    calls_ = std::move(held);
  }

  kube::Reply stored(const std::string& path, int status) {
    if (admission) admission(objects[path]);
    objects[path]["metadata"]["resourceVersion"] = std::to_string(++version_);
    tell_watches("MODIFIED", path);
    return {status, objects[path].dump(), std::nullopt};
  }
  kube::Reply removed(const std::string& path, const Json& options) {
    const Json& metadata = objects[path]["metadata"];
    if (options["preconditions"]["resourceVersion"] != metadata["resourceVersion"] ||
        options["preconditions"]["uid"] != metadata["uid"])
      return {409, "another one", std::nullopt};
    tell_watches("DELETED", path);
    objects.erase(path);
    return {200, "{}", std::nullopt};
  }
  kube::Reply list(const std::string& path) {
    Json out{{"metadata", {{"resourceVersion", std::to_string(version_ + 1)}}}};
    out["items"] = Json::array();
    for (const auto& [each, object] : objects) {
      if (each.starts_with(path + "/")) out["items"].push_back(object);
    }
    return {200, out.dump(), std::nullopt};
  }
  ManualClock& clock_;
  std::deque<Pending> calls_;
  std::deque<Watch> watches_;
  std::deque<std::pair<std::string, std::string>> events_;  // path and line
  std::multimap<std::chrono::steady_clock::time_point, Timer> timers_;
  int version_ = 0;
};

}  // namespace chipweave::agent
