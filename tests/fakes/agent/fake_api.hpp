// FakeApi — an API server in memory behind the Transport: objects with versions, status as
// subresource, lists and watches, any number of requests and waits at once. Time moves when the
// test advances it.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/transport.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {

class FakeApi final : public kube::Transport {
 public:
  using Json = nlohmann::json;

  explicit FakeApi(ManualClock& clock) : clock_(clock) {}

  std::unique_ptr<kube::Ticket> call(kube::Call call,
                                     std::function<void(Result<kube::Reply>)> done) override;
  // A watch of a whole collection; streaming lists are refused, as by older servers.
  std::unique_ptr<kube::Ticket> stream(kube::StreamRequest request, kube::StreamSink sink) override;
  std::unique_ptr<kube::Ticket> after(std::chrono::milliseconds delay,
                                      std::function<void()> task) override;
  std::chrono::steady_clock::time_point now() const override { return clock_.now(); }

  // Answers all requests, and ends the waits that expire in that time.
  void advance(std::chrono::milliseconds by);
  // A write of another client; watches get the event.
  void put(const std::string& path, const Json& object);
  // Cuts all connections, or accepts them again.
  void set_down(bool yes);
  // Requests and waits whose tickets live.
  std::size_t in_flight() const;

  // The answer to one request, for tests that transport requests in another way.
  kube::Reply answer(const kube::Call& call);

  std::map<std::string, Json> objects;  // by path
  std::vector<std::string> log;         // method and target of every request
  // By path: the media types that the last list or watch accepts.
  std::map<std::string, std::string> accepts;
  bool down = false;                     // no connection
  std::function<void(Json&)> admission;  // changes what is about to be stored
  std::string unanswered;                // requests whose target contains this get no answer

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
    std::string accept;
    kube::StreamSink sink;
    bool refused = false;
    bool unschedulable_only = false;
    std::shared_ptr<bool> live;
  };

  void end_watches();
  // Refuses streaming lists.
  void refuse_watches();
  void notify_watches(const char* type, const std::string& path);
  void send_events();

  void answer_all();

  kube::Reply stored(const std::string& path, int status);
  kube::Reply removed(const std::string& path, const Json& options);
  kube::Reply list(const std::string& path, bool unschedulable_only);
  ManualClock& clock_;
  std::deque<Pending> calls_;
  std::deque<Watch> watches_;
  std::deque<std::pair<std::string, std::string>> events_;  // path and line
  std::multimap<std::chrono::steady_clock::time_point, Timer> timers_;
  int version_ = 0;
};

}  // namespace chipweave::agent
