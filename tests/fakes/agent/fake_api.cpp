#include "tests/fakes/agent/fake_api.hpp"

#include <optional>

#include "tests/support/partial_metadata.hpp"

namespace chipweave::agent {

namespace {

bool selects_unschedulable(const std::string& target) {
  return target.find("spec.unschedulable%3Dtrue") != std::string::npos;
}

template <class Json>
bool is_unschedulable(const Json& node) {
  return node.contains("spec") && node["spec"].value("unschedulable", false);
}

// The event as a watch of unschedulable Nodes sees it: one that is not, has left it.
std::string as_unschedulable(const std::string& line) {
  nlohmann::ordered_json event = nlohmann::ordered_json::parse(line);
  if (!is_unschedulable(event["object"])) event["type"] = "DELETED";
  return event.dump() + "\n";
}

}  // namespace

std::unique_ptr<kube::Ticket> FakeApi::call(kube::Call call,
                                            std::function<void(Result<kube::Reply>)> done) {
  log.push_back(call.method + " " + call.target);
  calls_.push_back({std::move(call), std::move(done), std::make_shared<bool>(true)});
  return std::make_unique<Handle>(calls_.back().live);
}

std::unique_ptr<kube::Ticket> FakeApi::stream(kube::StreamRequest request, kube::StreamSink sink) {
  log.push_back("WATCH " + request.target);
  const bool initial = request.target.find("sendInitialEvents") != std::string::npos;
  const std::string path = request.target.substr(0, request.target.find('?'));
  accepts[path] = request.accept;
  watches_.push_back({path, std::move(request.accept), std::move(sink), initial,
                      selects_unschedulable(request.target), std::make_shared<bool>(true)});
  return std::make_unique<Handle>(watches_.back().live);
}

std::unique_ptr<kube::Ticket> FakeApi::after(std::chrono::milliseconds delay,
                                             std::function<void()> task) {
  const auto live = std::make_shared<bool>(true);
  timers_.emplace(now() + delay, Timer{std::move(task), live});
  return std::make_unique<Handle>(live);
}

void FakeApi::advance(std::chrono::milliseconds by) {
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

void FakeApi::put(const std::string& path, const Json& object) {
  objects[path] = object;
  stored(path, 200);
}

void FakeApi::set_down(bool yes) {
  down = yes;
  if (yes) end_watches();
}

std::size_t FakeApi::in_flight() const {
  std::size_t count = 0;
  for (const Pending& call : calls_) count += *call.live ? 1U : 0U;
  for (const Watch& watch : watches_) count += *watch.live ? 1U : 0U;
  for (const auto& [when, timer] : timers_) count += *timer.live ? 1U : 0U;
  return count;
}

kube::Reply FakeApi::answer(const kube::Call& call) {
  std::string path = call.target.substr(0, call.target.find('?'));
  const Json body = Json::parse(call.body, nullptr, false);
  if (call.method == "POST") {
    path += "/" + body["metadata"]["name"].get<std::string>();
    if (objects.count(path) == 1) return {409, "already exists", std::nullopt};
    objects[path] = body;
    objects[path]["metadata"]["uid"] = "uid-" + std::to_string(++version_);
    return stored(path, 201);
  }
  if (call.target.find("limit=") != std::string::npos) {
    accepts[path] = call.accept;
    return test::converted_list(call.accept, list(path, selects_unschedulable(call.target)));
  }
  const bool status = path.ends_with("/status");
  if (status) path.erase(path.rfind('/'));
  const auto found = objects.find(path);
  if (found == objects.end()) return {404, "not found", std::nullopt};
  if (call.method == "GET" || (call.method == "PATCH" && call.body == "{}"))
    return {200, found->second.dump(), std::nullopt};
  if (call.method == "DELETE") return removed(path, body);
  if (body["metadata"]["resourceVersion"] != found->second["metadata"]["resourceVersion"])
    return {409, "modified", std::nullopt};
  if (status) {
    found->second["status"] = body["status"];
  } else {
    found->second.merge_patch(body);  // equivalent to a PUT, since no key is ever removed
  }
  return stored(path, 200);
}

void FakeApi::end_watches() {
  for (const Watch& watch : std::exchange(watches_, {})) {
    if (*watch.live) watch.sink.ended(make_error(Errc::unavailable, "cut"));
  }
}

void FakeApi::refuse_watches() {
  if (down) return end_watches();
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (!std::exchange(watches_[i].refused, false)) continue;
    const Watch watch = watches_[i];
    if (*watch.live) watch.sink.refused({400, "no streaming lists here", std::nullopt});
  }
}

void FakeApi::notify_watches(const char* type, const std::string& path) {
  // The type first, as on a real server.
  events_.push_back(
      {path, std::string(R"({"type":")") + type + R"(","object":)" + objects[path].dump() + "}\n"});
}

void FakeApi::send_events() {
  while (!events_.empty()) {
    const auto [path, line] = events_.front();
    events_.pop_front();
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      const Watch watch = watches_[i];
      if (!*watch.live || !path.starts_with(watch.path + "/")) continue;
      watch.sink.bytes(test::converted_event(
          watch.accept, watch.unschedulable_only ? as_unschedulable(line) : line));
    }
  }
}

void FakeApi::answer_all() {
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

kube::Reply FakeApi::stored(const std::string& path, int status) {
  if (admission) admission(objects[path]);
  objects[path]["metadata"]["resourceVersion"] = std::to_string(++version_);
  notify_watches("MODIFIED", path);
  return {status, objects[path].dump(), std::nullopt};
}

kube::Reply FakeApi::removed(const std::string& path, const Json& options) {
  const Json& metadata = objects[path]["metadata"];
  if (options["preconditions"]["resourceVersion"] != metadata["resourceVersion"] ||
      options["preconditions"]["uid"] != metadata["uid"])
    return {409, "another one", std::nullopt};
  notify_watches("DELETED", path);
  objects.erase(path);
  return {200, "{}", std::nullopt};
}

kube::Reply FakeApi::list(const std::string& path, bool unschedulable_only) {
  Json out{{"metadata", {{"resourceVersion", std::to_string(version_ + 1)}}}};
  out["items"] = Json::array();
  for (const auto& [each, object] : objects) {
    if (!each.starts_with(path + "/")) continue;
    if (!unschedulable_only || is_unschedulable(object)) out["items"].push_back(object);
  }
  return {200, out.dump(), std::nullopt};
}

}  // namespace chipweave::agent
