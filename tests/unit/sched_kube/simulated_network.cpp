#include "tests/unit/sched_kube/simulated_network.hpp"

#include <algorithm>
#include <iterator>

#include "tests/support/partial_metadata.hpp"

namespace chipweave::sched::test {
namespace {

class OnEnd final : public kube::Ticket {
 public:
  explicit OnEnd(std::function<void()> act) : act_(std::move(act)) {}
  ~OnEnd() override { act_(); }

 private:
  std::function<void()> act_;
};

// Whether it changes what the scheduler decides about: bindings, and the claims for them. A request
// that timed out may still arrive, but not after binding_timeout.
bool is_binding(const kube::Call& call) {
  const bool claims = SimulatedClaims::mine(call, call.target.substr(0, call.target.find('?')));
  return (claims && call.method != "GET") || call.target.ends_with("/binding") ||
         (call.method == "PATCH" && call.target.ends_with("/status"));
}

template <class List>
auto nth(List& list, std::size_t n) {
  return std::next(list.begin(), static_cast<std::ptrdiff_t>(n));
}

// Whether the API of DRA has it.
bool dra(const std::string& path) {
  return path == SimulatedApi::kClaims || path == SimulatedApi::kSlices ||
         path == SimulatedApi::kClasses;
}

}  // namespace

class SimulatedApi::Wire final : public kube::Transport {
 public:
  Wire(SimulatedApi& api, std::shared_ptr<SimulatedProcess> by, bool at_once)
      : api_(api), net_(*api.network_), by_(std::move(by)), at_once_(at_once) {}

  std::unique_ptr<kube::Ticket> call(kube::Call call,
                                     std::function<void(Result<kube::Reply>)> done) override {
    const bool off = call.may_send && !call.may_send();
    auto pending = std::make_shared<PendingCall>(
        PendingCall{std::move(call), std::move(done), by_, net_.now, true});
    if (off) {
      return after(Milliseconds(0),
                   [pending] { pending->done(make_error(Errc::unavailable, "called off")); });
    }
    if (at_once_) return serve(pending);
    net_.calls.push_back(pending);
    return std::make_unique<OnEnd>([pending, &net = net_] {
      pending->live = false;
      std::erase(net.calls, pending);
    });
  }

  std::unique_ptr<kube::Ticket> stream(kube::StreamRequest request,
                                       kube::StreamSink sink) override {
    auto watch = std::make_shared<OpenWatch>();
    watch->path = request.target.substr(0, request.target.find('?'));
    watch->accept = std::move(request.accept);
    watch->sink = std::move(sink);
    watch->by = by_;
    api_.accepts[watch->path] = watch->accept;
    net_.begin(*watch, request.target);
    net_.watches.push_back(watch);
    return std::make_unique<OnEnd>([watch, &net = net_] {
      watch->live = false;
      net.watches.remove(watch);
    });
  }

  std::unique_ptr<kube::Ticket> after(Milliseconds delay, std::function<void()> task) override {
    auto live = std::make_shared<bool>(true);
    net_.timers.push_back({net_.now + delay, std::move(task), live, by_});
    return std::make_unique<OnEnd>([live] { *live = false; });
  }
  SimulatedTime now() const override { return net_.now; }

 private:
  // The server keeps working while the process is paused.
  std::unique_ptr<kube::Ticket> serve(const std::shared_ptr<PendingCall>& pending) {
    const auto network = std::make_shared<SimulatedProcess>();
    const bool lost = by_->cut_off;
    const Milliseconds time = lost ? pending->call.deadline : Milliseconds(1);
    net_.timers.push_back({net_.now + time,
                           [pending, lost, &api = api_] {
                             Result<kube::Reply> reply = make_error(Errc::deadline, "cut off");
                             if (!lost) reply = api.answer(pending->call);
                             pending->by->run([pending, reply] {
                               if (std::exchange(pending->live, false)) pending->done(reply);
                             });
                           },
                           std::make_shared<bool>(true), network});
    return std::make_unique<OnEnd>([pending] { pending->live = false; });
  }

  SimulatedApi& api_;
  Network& net_;
  std::shared_ptr<SimulatedProcess> by_;
  bool at_once_;
};

std::unique_ptr<kube::Transport> SimulatedApi::connect(std::shared_ptr<SimulatedProcess> by) {
  return std::make_unique<Wire>(*this, std::move(by), false);
}
std::unique_ptr<kube::Transport> SimulatedApi::connect_at_once(
    std::shared_ptr<SimulatedProcess> by) {
  return std::make_unique<Wire>(*this, std::move(by), true);
}

std::size_t SimulatedApi::waiting() const { return network_->calls.size(); }
const std::string& SimulatedApi::body_of(std::size_t n) const {
  return (*nth(network_->calls, n))->call.body;
}
void SimulatedApi::refuse_next_binding(int code, std::string message) {
  network_->refusal = code;
  network_->refusal_message = std::move(message);
}
void SimulatedApi::refuse_annotations(int code) { network_->annotation_refusal = code; }
std::size_t SimulatedApi::refused_annotations() const { return network_->refused_annotations; }

std::optional<std::size_t> SimulatedApi::find(
    const std::function<bool(const kube::Call&)>& such) const {
  std::size_t at = 0;
  for (const auto& pending : network_->calls) {
    if (such(pending->call)) return at;
    ++at;
  }
  return std::nullopt;
}
std::size_t SimulatedApi::count(const std::function<bool(const kube::Call&)>& such) const {
  return static_cast<std::size_t>(
      std::count_if(network_->calls.begin(), network_->calls.end(),
                    [&](const auto& pending) { return such(pending->call); }));
}

void SimulatedApi::read(std::size_t n) {
  PendingCall& call = **nth(network_->calls, n);
  const bool late = is_binding(call.call) && network_->now > call.sent + binding_timeout;
  if (!call.read && !late) call.read = answer(call.call);
}

void SimulatedApi::take(std::size_t n, Fate fate) {
  const auto it = nth(network_->calls, n);
  const std::shared_ptr<PendingCall> call = *it;
  network_->calls.erase(it);
  kube::Reply reply;
  if (call->read) {
    if (fate == Fate::lost_before) fate = Fate::lost_after;
    reply = std::move(*call->read);
  } else {
    if (is_binding(call->call) && network_->now > call->sent + binding_timeout)
      fate = Fate::lost_before;
    if (fate != Fate::lost_before) reply = answer(call->call);
  }
  call->by->run([call, fate, reply = std::move(reply)] {
    if (!std::exchange(call->live, false)) return;
    if (fate == Fate::answered) {
      call->done(reply);
    } else {
      call->done(make_error(Errc::unavailable, "connection reset"));
    }
  });
}

void SimulatedApi::detach(std::size_t n) {
  const auto it = nth(network_->calls, n);
  const std::shared_ptr<PendingCall> call = *it;
  if (!call->live) return;
  if (!is_binding(call->call) || call->read || network_->now > call->sent + binding_timeout)
    return take(n, Fate::lost_before);
  network_->calls.erase(it);
  network_->detached.emplace_back(call->call, call->sent + binding_timeout);
  call->by->run([call] {
    if (std::exchange(call->live, false))
      call->done(make_error(Errc::deadline, "no answer in time"));
  });
}

void SimulatedApi::deliver_detached(std::size_t n) {
  const auto it = nth(network_->detached, n);
  const kube::Call call = it->first;
  network_->detached.erase(it);
  answer(call);
}
std::size_t SimulatedApi::detached() const { return network_->detached.size(); }
void SimulatedApi::drop_detached() { network_->detached.clear(); }

std::size_t SimulatedApi::watches() const { return network_->watches.size(); }
bool SimulatedApi::watches(std::size_t n, std::string_view path) const {
  return (*nth(network_->watches, n))->path == path;
}

bool SimulatedApi::feed(std::size_t n, std::size_t most) {
  const auto watch = *nth(network_->watches, n);
  return network_->feed(watch, most);
}
void SimulatedApi::cut(std::size_t n) {
  const auto watch = *nth(network_->watches, n);
  network_->watches.remove(watch);
  const auto sink = watch->sink;
  if (watch->live) sink.ended(make_error(Errc::unavailable, "cut"));
}

void SimulatedApi::pass(Milliseconds time) {
  auto& timers = network_->timers;
  const auto until = network_->now + time;
  while (true) {
    auto next = timers.end();
    for (auto it = timers.begin(); it != timers.end(); ++it) {
      if (it->at <= until && (next == timers.end() || it->at < next->at)) next = it;
    }
    if (next == timers.end()) break;
    network_->now = std::max(network_->now, next->at);
    const SimulatedTimer timer = *next;
    timers.erase(next);
    timer.by->run([timer] {
      if (*timer.live) timer.task();
    });
  }
  network_->now = until;
  const auto exists = [this](const std::string& uid) {
    return std::any_of(pods.begin(), pods.end(),
                       [&](const auto& one) { return one.second.uid == uid; });
  };
  if (controllers) pod_claims.collect(exists, version_, told());
  std::erase_if(network_->detached,
                [&](const auto& request) { return request.second < network_->now; });
}

void SimulatedApi::settle() {
  bool more = true;
  while (more) {
    more = false;
    while (!network_->calls.empty()) {
      take(0, Fate::answered);
      more = true;
    }
    for (const auto& watch : std::vector<std::shared_ptr<OpenWatch>>(network_->watches.begin(),
                                                                     network_->watches.end())) {
      more = network_->feed(watch, 1'000'000) || more;
    }
  }
}

void SimulatedApi::Network::begin(OpenWatch& watch, const std::string& target) {
  const std::size_t at = target.find("&resourceVersion=");
  if (target.find("sendInitialEvents=true") != std::string::npos) {
    const bool refused =
        watch.path == SimulatedConfigMaps::kPath && api.config_maps.refuse_lists != 0;
    if (refused || !api.streaming_lists || misses(watch.path)) {
      watch.initial.push_back("");
      return;
    }
    for (const std::string& object : objects(watch.path))
      watch.initial.push_back(watch_line("ADDED", object));
    watch.initial.push_back(watch_line(
        "BOOKMARK", R"({"metadata":{"resourceVersion":")" + std::to_string(api.version_) +
                        R"(","annotations":{"k8s.io/initial-events-end":"true"}}})"));
    watch.from = api.version_;
  } else if (at != std::string::npos) {
    watch.from = std::stoull(target.substr(at + 17));
    watch.expired = watch.from < oldest;
  }
}

bool SimulatedApi::Network::misses(const std::string& path) const {
  if (dra(path)) return !api.claims_api;
  const bool of_network = path.ends_with("/hypernodes") || path.ends_with("topologies") ||
                          (path.ends_with("/configmaps") && path != SimulatedConfigMaps::kPath);
  return of_network && !documents.contains(path);
}

std::optional<std::string> SimulatedApi::Network::next_line(OpenWatch& watch) {
  if (!watch.expired && !watch.initial.empty()) {
    std::string line = std::move(watch.initial.front());
    watch.initial.erase(watch.initial.begin());
    return line;
  }
  if (!std::exchange(watch.expired, false)) {
    const auto& all = history[watch.path];
    const auto it = std::upper_bound(all.begin(), all.end(), watch.from,
                                     [](std::uint64_t v, const auto& e) { return v < e.first; });
    if (watch.from >= oldest) {
      if (it == all.end()) return std::nullopt;
      watch.from = it->first;
      return it->second;
    }
  }
  return watch_line("ERROR",
                    R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
}

bool SimulatedApi::Network::feed(const std::shared_ptr<OpenWatch>& watch, std::size_t most) {
  bool fed = false;
  while (most-- > 0 && watch->live && !watch->by->paused) {
    const std::optional<std::string> line = next_line(*watch);
    if (!line) break;
    const auto sink = watch->sink;
    if (line->empty()) {
      watches.remove(watch);
      const bool maps = watch->path == SimulatedConfigMaps::kPath;
      if (maps && api.config_maps.refuse_lists != 0) {
        sink.refused(status(api.config_maps.refuse_lists, "refused"));
      } else {
        sink.refused(misses(watch->path) ? status(404, "no such API")
                                         : status(400, "no streaming lists"));
      }
      return true;
    }
    fed = true;
    sink.bytes(chipweave::test::converted_event(watch->accept, *line));
  }
  return fed;
}

}  // namespace chipweave::sched::test
