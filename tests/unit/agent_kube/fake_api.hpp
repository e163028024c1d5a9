// FakeApi — an API server in memory behind the Transport: objects with versions, status as
// subresource, many requests and waits at once. Time moves when the test says so.
#pragma once

#include <algorithm>
#include <deque>
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
  std::unique_ptr<kube::Ticket> stream(std::string, std::chrono::milliseconds,
                                       kube::StreamSink) override {
    return nullptr;  // no agent watches
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
  // Requests and waits whose tickets live.
  std::size_t under_way() const {
    std::size_t count = 0;
    for (const Pending& call : calls_) count += *call.live ? 1U : 0U;
    for (const auto& [when, timer] : timers_) count += *timer.live ? 1U : 0U;
    return count;
  }

  std::map<std::string, Json> objects;  // by path
  std::vector<std::string> log;         // method and target of every request
  bool down = false;                    // no connection
  std::string unanswered;               // requests whose target holds this get no answer

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

  void answer_all() {
    std::deque<Pending> held;
    while (!calls_.empty()) {
      Pending next = std::move(calls_.front());
      calls_.pop_front();
      if (!*next.live) continue;
      if (!unanswered.empty() && next.call.target.find(unanswered) != std::string::npos) {
        held.push_back(std::move(next));
      } else if (down) {
        next.done(make_error(Errc::unavailable, "connection refused"));
      } else {
        next.done(answer(next.call));
      }
    }
    calls_ = std::move(held);
  }

  kube::Reply stored(const std::string& path, int status) {
    objects[path]["metadata"]["resourceVersion"] = std::to_string(++version_);
    return {status, objects[path].dump(), std::nullopt};
  }
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
    const bool status = path.ends_with("/status");
    if (status) path.erase(path.rfind('/'));
    const auto found = objects.find(path);
    if (found == objects.end()) return {404, "not found", std::nullopt};
    if (call.method == "GET") return {200, found->second.dump(), std::nullopt};
    if (body["metadata"]["resourceVersion"] != found->second["metadata"]["resourceVersion"])
      return {409, "modified", std::nullopt};
    if (status) {
      found->second["status"] = body["status"];
    } else {
      found->second.merge_patch(body);  // as good as a PUT where no key is ever removed
    }
    return stored(path, 200);
  }

  ManualClock& clock_;
  std::deque<Pending> calls_;
  std::multimap<std::chrono::steady_clock::time_point, Timer> timers_;
  int version_ = 0;
};

}  // namespace chipweave::agent
