// SimulatedApi — an API server behind a bad network, as a Transport: pods, NodeInventories, Leases
// and Nodes with versions and watches, bindings that are applied late or whose answers get lost.
//
// Nothing happens by itself: requests wait until a step takes them, watches until they are fed, and
// time until it is moved. So a test can interleave all of it, and ask the server for the truth.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/kube/transport.hpp"
#include "tests/unit/sched_kube/simulated_objects.hpp"

namespace chipweave::sched::testing {

class SimulatedApi {
 public:
  using Json = nlohmann::json;
  using Milliseconds = std::chrono::milliseconds;
  static constexpr const char* kPods = "/api/v1/pods";
  static constexpr const char* kInventories = "/apis/chipweave.dev/v1alpha1/nodeinventories";
  static constexpr const char* kClaims = "/apis/resource.k8s.io/v1/resourceclaims";

  // --- the truth
  std::map<std::string, ServerPod> pods;
  std::vector<std::string> events;   // reasons of the events that were posted
  std::vector<std::string> notes;    // and what they say
  std::vector<std::string> touched;  // nodes that were patched
  bool streaming_lists = true;
  bool claims_api = true;  // whether it knows ResourceClaims
  // How long a binding may be on its way before it is lost.
  std::chrono::milliseconds patience{60'000};
  SimulatedLeases leases;
  std::map<std::string, std::map<std::string, Json>> labelled;  // labels that pods were given

  void create(ServerPod pod) {
    pod.version = ++version_;
    if (pod.uid.empty()) pod.uid = "uid-" + std::to_string(++uids_);
    const std::string key = pod.key();
    note(kPods, "ADDED", pod_json(pod));
    pods[key] = std::move(pod);
  }
  void remove(const std::string& key) {
    ServerPod gone = pods.at(key);
    gone.version = ++version_;
    pods.erase(key);
    note(kPods, "DELETED", pod_json(gone));
  }
  // As remove() with a grace period.
  void begin_end(const std::string& key) {
    pods.at(key).ending = true;
    changed(pods.at(key));
  }
  // Its containers run.
  void set_started(const std::string& key) {
    pods.at(key).started = true;
    changed(pods.at(key));
  }
  // As another scheduler, or a user, would: without asking anybody.
  void set_node(const std::string& key, const std::string& node,
                const std::map<std::string, std::string>& annotations = {}) {
    ServerPod& pod = pods.at(key);
    pod.node = node;
    for (const auto& [name, value] : annotations) pod.annotations[name] = value;
    changed(pod);
  }
  void annotate(const std::string& key, const std::string& name, const std::string& value) {
    ServerPod& pod = pods.at(key);
    pod.annotations[name] = value;
    changed(pod);
  }
  // status: JSON; empty: the object is deleted.
  void set_inventory(const std::string& node, const std::string& status) {
    const bool known = inventories_.contains(node);
    const std::string text = R"({"metadata":{"name":")" + node + R"(","uid":"i-)" + node +
                             R"(","resourceVersion":")" + std::to_string(++version_) +
                             R"("},"status":)" + (status.empty() ? "{}" : status) + "}";
    if (status.empty()) {
      inventories_.erase(node);
      if (known) note(kInventories, "DELETED", text);
      return;
    }
    inventories_[node] = text;
    note(kInventories, known ? "MODIFIED" : "ADDED", text);
  }
  // devices: driver and pool; none: the claim is deleted.
  void set_claim(const std::string& name,
                 const std::vector<std::pair<std::string, std::string>>& devices) {
    const std::string text = claim_json(name, devices, ++version_);
    const bool known = claims_.contains(name);
    if (devices.empty()) {
      claims_.erase(name);
    } else {
      claims_[name] = text;
    }
    note(kClaims, devices.empty() ? "DELETED" : (known ? "MODIFIED" : "ADDED"), text);
  }
  // Watches that ask for what was before are told that it is gone.
  void forget_history() {
    for (auto& [path, all] : history_) all.clear();
    oldest_ = version_;
  }

  // --- the network
  // One end of the wire: what a program has. A new one after a restart; the old one's requests are
  // gone with it.
  std::unique_ptr<kube::Transport> connect(std::shared_ptr<SimulatedProcess> by) {
    return std::make_unique<Wire>(*this, std::move(by), false);
  }
  // Its requests wait for nobody: they are answered when a millisecond has passed.
  std::unique_ptr<kube::Transport> connect_at_once(std::shared_ptr<SimulatedProcess> by) {
    return std::make_unique<Wire>(*this, std::move(by), true);
  }

  std::size_t waiting() const { return calls_.size(); }
  // What the n-th waiting request brings.
  const std::string& body_of(std::size_t n) const {
    return (*std::next(calls_.begin(), static_cast<std::ptrdiff_t>(n)))->call.body;
  }
  // The next binding is answered so, as when something else forbids it.
  void refuse_next_binding(int code) { refusal_ = code; }
  // The first that is such.
  std::optional<std::size_t> find(const std::function<bool(const kube::Call&)>& such) const {
    std::size_t at = 0;
    for (const auto& pending : calls_) {
      if (such(pending->call)) return at;
      ++at;
    }
    return std::nullopt;
  }
  // How many of them are such.
  std::size_t count(const std::function<bool(const kube::Call&)>& such) const {
    std::size_t n = 0;
    for (const auto& pending : calls_) n += such(pending->call) ? 1U : 0U;
    return n;
  }
  enum class Fate { answered, lost_before, lost_after };
  // The n-th waiting request reaches the server (or not), and its answer its caller (or not).
  void take(std::size_t n, Fate fate) {
    const auto it = std::next(calls_.begin(), static_cast<std::ptrdiff_t>(n));
    const std::shared_ptr<Pending> call = *it;
    calls_.erase(it);
    kube::Reply reply;
    if (is_binding(call->call) && now_ > call->sent + patience) fate = Fate::lost_before;
    if (fate != Fate::lost_before) reply = answer(call->call);
    call->by->run([call, fate, reply = std::move(reply)] {
      if (!std::exchange(call->live, false)) return;
      if (fate == Fate::answered) {
        call->done(reply);
      } else {
        call->done(make_error(Errc::unavailable, "connection reset"));
      }
    });
  }
  // The request's caller hears nothing more, but the request still arrives some time.
  void detach(std::size_t n) {
    const auto it = std::next(calls_.begin(), static_cast<std::ptrdiff_t>(n));
    const std::shared_ptr<Pending> call = *it;
    if (!call->live) return;
    if (!is_binding(call->call) || now_ > call->sent + patience) return take(n, Fate::lost_before);
    calls_.erase(it);
    late_.push_back({call->call, call->sent + patience});
    call->by->run([call] {
      if (std::exchange(call->live, false))
        call->done(make_error(Errc::deadline, "no answer in time"));
    });
  }
  // A detached request arrives. The server gives none more than a minute.
  void arrive_late(std::size_t n) {
    const auto it = std::next(late_.begin(), static_cast<std::ptrdiff_t>(n));
    const kube::Call call = it->first;
    late_.erase(it);
    answer(call);
  }
  std::size_t late() const { return late_.size(); }
  void drop_late() { late_.clear(); }

  std::size_t watches() const { return watches_.size(); }
  // Up to `most` events reach the n-th watch; false if there was none.
  bool feed(std::size_t n, std::size_t most) {
    const auto watch = *std::next(watches_.begin(), static_cast<std::ptrdiff_t>(n));
    return feed(watch, most);
  }
  void cut(std::size_t n) {
    const auto watch = *std::next(watches_.begin(), static_cast<std::ptrdiff_t>(n));
    watches_.remove(watch);
    const auto sink = watch->sink;
    if (watch->live) sink.ended(make_error(Errc::unavailable, "cut"));
  }
  void pass(Milliseconds time) {
    const auto until = now_ + time;
    while (true) {
      auto next = timers_.end();
      for (auto it = timers_.begin(); it != timers_.end(); ++it) {
        if (it->at <= until && (next == timers_.end() || it->at < next->at)) next = it;
      }
      if (next == timers_.end()) break;
      now_ = std::max(now_, next->at);
      const Timer timer = *next;
      timers_.erase(next);
      timer.by->run([timer] {
        if (*timer.live) timer.task();
      });
    }
    now_ = until;
    std::erase_if(late_, [&](const auto& late) { return late.second < now_; });
  }
  // Everything that can happen without time passing does.
  void settle() {
    bool more = true;
    while (more) {
      more = false;
      while (!calls_.empty()) {
        take(0, Fate::answered);
        more = true;
      }
      for (const auto& watch :
           std::vector<std::shared_ptr<Watch>>(watches_.begin(), watches_.end())) {
        more = feed(watch, 1'000'000) || more;
      }
    }
  }

 private:
  struct Pending {
    kube::Call call;
    std::function<void(Result<kube::Reply>)> done;
    std::shared_ptr<SimulatedProcess> by;
    std::chrono::steady_clock::time_point sent;
    bool live = true;
  };
  struct Watch {
    std::string path;
    kube::StreamSink sink;
    std::shared_ptr<SimulatedProcess> by;
    std::uint64_t from = 0;            // tell what is newer
    std::vector<std::string> to_tell;  // of a list that is streamed
    bool expired = false;
    bool live = true;
  };
  struct Timer {
    std::chrono::steady_clock::time_point at;
    std::function<void()> task;
    std::shared_ptr<bool> live;
    std::shared_ptr<SimulatedProcess> by;
  };

  class Wire final : public kube::Transport {
   public:
    Wire(SimulatedApi& api, std::shared_ptr<SimulatedProcess> by, bool at_once)
        : api_(api), by_(std::move(by)), at_once_(at_once) {}
    std::unique_ptr<kube::Ticket> call(kube::Call call,
                                       std::function<void(Result<kube::Reply>)> done) override {
      const bool off = call.may_send && !call.may_send();
      auto pending = std::make_shared<Pending>(
          Pending{std::move(call), std::move(done), by_, api_.now_, true});
      if (off) {
        return after(Milliseconds(0),
                     [pending] { pending->done(make_error(Errc::unavailable, "called off")); });
      }
      if (at_once_) return serve(pending);
      api_.calls_.push_back(pending);
      return std::make_unique<End>([pending, &api = api_] {
        pending->live = false;
        // whoever hangs up has not sent it, or has it done all the same: the server decides
        std::erase(api.calls_, pending);
      });
    }
    std::unique_ptr<kube::Ticket> stream(std::string target, Milliseconds,
                                         kube::StreamSink sink) override {
      auto watch = std::make_shared<Watch>();
      watch->path = target.substr(0, target.find('?'));
      watch->sink = std::move(sink);
      watch->by = by_;
      api_.begin(*watch, target);
      api_.watches_.push_back(watch);
      return std::make_unique<End>([watch, &api = api_] {
        watch->live = false;
        api.watches_.remove(watch);
      });
    }
    std::unique_ptr<kube::Ticket> after(Milliseconds delay, std::function<void()> task) override {
      auto live = std::make_shared<bool>(true);
      api_.timers_.push_back({api_.now_ + delay, std::move(task), live, by_});
      return std::make_unique<End>([live] { *live = false; });
    }
    std::chrono::steady_clock::time_point now() const override { return api_.now_; }

   private:
    class End final : public kube::Ticket {
     public:
      explicit End(std::function<void()> act) : act_(std::move(act)) {}
      ~End() override { act_(); }

     private:
      std::function<void()> act_;
    };
    // The server works on while the process is stopped.
    std::unique_ptr<kube::Ticket> serve(const std::shared_ptr<Pending>& pending) {
      const auto network = std::make_shared<SimulatedProcess>();
      const bool lost = by_->cut_off;
      const Milliseconds time = lost ? pending->call.deadline : Milliseconds(1);
      api_.timers_.push_back({api_.now_ + time,
                              [pending, lost, &api = api_] {
                                Result<kube::Reply> reply = make_error(Errc::deadline, "cut off");
                                if (!lost) reply = api.answer(pending->call);
                                pending->by->run([pending, reply] {
                                  if (std::exchange(pending->live, false)) pending->done(reply);
                                });
                              },
                              std::make_shared<bool>(true), network});
      return std::make_unique<End>([pending] { pending->live = false; });
    }

    SimulatedApi& api_;
    std::shared_ptr<SimulatedProcess> by_;
    bool at_once_;
  };

  static bool is_binding(const kube::Call& call) {
    return call.method == "POST" && call.target.ends_with("/binding");
  }
  static std::string line(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
  }
  void changed(ServerPod& pod) {
    pod.version = ++version_;
    note(kPods, "MODIFIED", pod_json(pod));
  }
  void note(const std::string& path, const std::string& type, const std::string& object) {
    history_[path].emplace_back(version_, line(type, object));
  }

  std::vector<std::string> objects(const std::string& path) const {
    std::vector<std::string> all;
    if (path == kPods) {
      for (const auto& [key, pod] : pods) all.push_back(pod_json(pod));
    } else if (path == kInventories) {
      for (const auto& [node, text] : inventories_) all.push_back(text);
    } else if (path == kClaims) {
      for (const auto& [name, text] : claims_) all.push_back(text);
    }
    return all;
  }

  void begin(Watch& watch, const std::string& target) {
    const std::size_t at = target.find("&resourceVersion=");
    if (target.find("sendInitialEvents=true") != std::string::npos) {
      if (!streaming_lists || (watch.path == kClaims && !claims_api)) {
        watch.to_tell.push_back("");
        return;
      }
      for (const std::string& object : objects(watch.path))
        watch.to_tell.push_back(line("ADDED", object));
      watch.to_tell.push_back(
          line("BOOKMARK", R"({"metadata":{"resourceVersion":")" + std::to_string(version_) +
                               R"(","annotations":{"k8s.io/initial-events-end":"true"}}})"));
      watch.from = version_;
    } else if (at != std::string::npos) {
      watch.from = std::stoull(target.substr(at + 17));
      watch.expired = watch.from < oldest_;
    }
  }

  bool feed(const std::shared_ptr<Watch>& watch, std::size_t most) {
    bool told = false;
    while (most-- > 0 && watch->live && !watch->by->stopped) {
      std::string next;
      if (watch->expired) {
        next =
            line("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
        watch->expired = false;
      } else if (!watch->to_tell.empty()) {
        next = watch->to_tell.front();
        watch->to_tell.erase(watch->to_tell.begin());
        if (next.empty()) {
          const auto sink = watch->sink;
          watches_.remove(watch);
          sink.refused(watch->path == kClaims && !claims_api ? status(404, "no such API")
                                                             : status(400, "no streaming lists"));
          return true;
        }
      } else {
        const auto& all = history_[watch->path];
        const auto it =
            std::upper_bound(all.begin(), all.end(), watch->from,
                             [](std::uint64_t v, const auto& e) { return v < e.first; });
        if (it == all.end()) {
          if (watch->from < oldest_) {
            watch->expired = true;
            continue;
          }
          break;
        }
        if (watch->from < oldest_) {
          watch->expired = true;
          continue;
        }
        watch->from = it->first;
        next = it->second;
      }
      told = true;
      const auto sink = watch->sink;
      sink.bytes(next);
    }
    return told;
  }

  kube::Reply answer(const kube::Call& call) {
    const std::string path = call.target.substr(0, call.target.find('?'));
    if (path.ends_with("/events") || path.find("/events/") != std::string::npos) {
      if (call.method == "POST") {
        events.push_back(Json::parse(call.body)["reason"]);
        notes.push_back(Json::parse(call.body)["note"]);
      }
      if (call.method == "PATCH") events.push_back("again");
      return status(201, "");
    }
    if (call.method == "PATCH" && path.starts_with("/api/v1/nodes/")) {
      touched.push_back(path.substr(14));
      return status(200, "");
    }
    if (path == kClaims && !claims_api) return status(404, "no such API");
    if (SimulatedLeases::mine(call, path)) return leases.answer(call, path, version_);
    if (call.method == "PATCH" && call.body.find("\"labels\"") != std::string::npos) {
      const Json body = Json::parse(call.body);
      for (const auto& [key, value] : body["metadata"]["labels"].items())
        labelled[path.substr(path.rfind('/') + 1)][key] = value;
      return status(200, "");
    }
    if (call.method == "GET" && (path == kPods || path == kInventories || path == kClaims ||
                                 path == "/api/v1/nodes" || path.ends_with("/leases"))) {
      std::string items;
      const std::size_t of = call.target.find("%2Cspec.nodeName%3D");
      const std::string node = of == std::string::npos ? "" : call.target.substr(of + 19);
      for (const std::string& object : objects(path)) {
        if (!node.empty() && Json::parse(object)["spec"].value("nodeName", "") != node) continue;
        items += (items.empty() ? "" : ",") + object;
      }
      return {200,
              R"({"metadata":{"resourceVersion":")" + std::to_string(version_) + R"("},"items":[)" +
                  items + "]}",
              std::nullopt};
    }
    // /api/v1/namespaces/NS/pods/NAME[/binding]
    const std::string before = "/api/v1/namespaces/";
    const std::size_t slash = path.find('/', before.size());
    const std::string ns = path.substr(before.size(), slash - before.size());
    std::string name = path.substr(slash + 6);
    const bool binding = name.ends_with("/binding");
    if (binding) name.resize(name.size() - 8);
    const auto pod = pods.find(ns + "/" + name);
    if (pod == pods.end()) return status(404, "not found");
    if (call.method == "PATCH") {
      const Json body = Json::parse(call.body)["metadata"];
      if (body["uid"] != pod->second.uid) return status(422, "uid: field is immutable");
      if (body["resourceVersion"] != std::to_string(pod->second.version))
        return status(409, "the object has been modified");
      for (const auto& [name_of, value] : body["annotations"].items())
        pod->second.annotations[name_of] = value;
      changed(pod->second);
      return {200, pod_json(pod->second), std::nullopt};
    }
    if (!binding) return {200, pod_json(pod->second), std::nullopt};
    if (refusal_ != 0) return status(std::exchange(refusal_, 0), "refused");
    const Json body = Json::parse(call.body);
    if (body["metadata"]["uid"] != pod->second.uid) return status(409, "precondition failed: UID");
    if (!pod->second.node.empty()) return status(409, "pod is already assigned to a node");
    set_node(pod->first, body["target"]["name"],
             body["metadata"].value("annotations", std::map<std::string, std::string>()));
    return status(201, "");
  }

  int refusal_ = 0;
  std::uint64_t version_ = 1;
  std::uint64_t oldest_ = 0;
  std::uint64_t uids_ = 0;
  std::map<std::string, std::string> inventories_;
  std::map<std::string, std::string> claims_;
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> history_;
  std::list<std::shared_ptr<Pending>> calls_;
  std::vector<std::pair<kube::Call, std::chrono::steady_clock::time_point>> late_;
  std::list<std::shared_ptr<Watch>> watches_;
  std::vector<Timer> timers_;
  std::chrono::steady_clock::time_point now_{};
};

}  // namespace chipweave::sched::testing
