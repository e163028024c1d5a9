#include "scheduler-plugin/kube/gangs/config_map_plans.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/codec/kube/objects/config_map.hpp"
#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/kube/api_chain.hpp"
#include "scheduler-plugin/kube/gangs/plan_object.hpp"

namespace chipweave::sched {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr milliseconds kOneTry{5'000};  // for one answer
constexpr Backoff::Waits kPauses{milliseconds(100), milliseconds(5'000)};
constexpr milliseconds kRefusedPause{60'000};  // an administrator has to change something
constexpr milliseconds kLongestRetryAfter{120'000};
constexpr std::size_t kPlansPerPage = 50;  // a page stays below limits::kMaxKubeReplyBytes
constexpr seconds kSweepEvery{5};
constexpr seconds kSweepGap{30};  // without a sweep: what was not seen since does not count

kube::Reflector<codec::KubeConfigMap>::Options plans_watch(const std::string& path) {
  kube::Reflector<codec::KubeConfigMap>::Options options;
  options.path = path;
  options.selector = kPlanObjectSelector;
  options.page = kPlansPerPage;
  return options;
}

std::string name_of_key(const std::string& key) { return key.substr(key.find('/') + 1); }

}  // namespace

ConfigMapPlans::ConfigMapPlans(kube::Transport& transport, std::string ns,
                               std::function<Fence()> fence, Events events,
                               std::function<double()> jitter)
    : transport_(transport),
      ns_(std::move(ns)),
      path_(codec::config_map_path(ns_)),
      fence_(std::move(fence)),
      events_(std::move(events)),
      jitter_(std::move(jitter)),
      watch_(transport, plans_watch(path_),
             {{[this](codec::KubeConfigMap&& object) { take(std::move(object)); },
               [this](const std::string& key) { forget(name_of_key(key)); }},
              [this] { listed(); },
              [this](const kube::WatchFailure& failure) { list_failed(failure); }},
             jitter_) {}

// --- what is stored

void ConfigMapPlans::take(codec::KubeConfigMap&& object) {
  forget(object.name);
  if (objects_.size() >= limits::kMaxPods) {
    return events_.unusable(object.name,
                            make_error(Errc::limit_exceeded,
                                       "there are more than " + std::to_string(limits::kMaxPods)));
  }
  auto plan = plan_of_object(object);
  Stored stored{{object.uid, object.resource_version}, gang_of_object(object), std::nullopt};
  if (plan) {
    stored.plan = std::move(*plan);
  } else {
    events_.unusable(object.name, plan.error());
  }
  if (!stored.gang.empty()) {
    const auto [of, fresh] = by_gang_.try_emplace(stored.gang, object.name);
    const bool better = !fresh && stored.plan && !objects_.at(of->second).plan;
    if (better) of->second = object.name;
    if (!fresh && !better && stored.plan) {
      events_.unusable(object.name, make_error(Errc::conflict, "the plan of gang " + stored.gang +
                                                                   " is in " + of->second));
    }
  }
  objects_.insert_or_assign(object.name, std::move(stored));
}

void ConfigMapPlans::forget(const std::string& name) {
  const auto at = objects_.find(name);
  if (at == objects_.end()) return;
  const auto of = by_gang_.find(at->second.gang);
  if (of != by_gang_.end() && of->second == name) by_gang_.erase(of);
  objects_.erase(at);
}

// The watch knows which version is the newest. What was deleted before counts as old there.
void ConfigMapPlans::note(codec::KubeConfigMap object) {
  watch_.note(object);
  if (!objects_.contains(object.name)) take(std::move(object));
}

void ConfigMapPlans::listed() {
  forbidden_ = false;
  std::vector<std::string> waiting;
  for (const auto& [gang, job] : jobs_) {
    if (!job.busy) waiting.push_back(gang);
  }
  for (const std::string& gang : waiting) {
    const auto job = jobs_.find(gang);
    if (job != jobs_.end() && !job->second.busy) step(gang);
  }
  events_.known();
}

void ConfigMapPlans::list_failed(const kube::WatchFailure& failure) {
  if (failure.status != kube::kForbidden) return events_.failed(failure);
  if (std::exchange(forbidden_, true)) return;
  events_.unusable(
      "ConfigMaps of namespace " + ns_,
      make_error(Errc::unavailable,
                 "gangs go on without stored plans, which a restart forgets: " + failure.what));
  Dones dones;
  for (auto& [gang, job] : jobs_) {
    for (Done& done : take_dones(job, job.wish)) dones.push_back(std::move(done));
  }
  events_.known();
  answer(dones, {});
}

const ConfigMapPlans::Stored* ConfigMapPlans::stored_of(const std::string& gang) const {
  const auto name = by_gang_.find(gang);
  return name == by_gang_.end() ? nullptr : &objects_.at(name->second);
}

void ConfigMapPlans::each(const std::function<void(const StoredPlan&)>& visit) const {
  for (const auto& [gang, name] : by_gang_) {
    const auto& plan = objects_.at(name).plan;
    if (!plan) continue;
    const auto job = jobs_.find(gang);
    const bool going =
        job != jobs_.end() && !job->second.text && (!job->second.fence || job->second.fence());
    if (!going) visit(*plan);
  }
}

void ConfigMapPlans::sweep(const std::function<bool(const std::string& gang)>& exists,
                           Clock::Steady now) {
  if (swept_ && now - *swept_ < kSweepEvery) return;
  if (swept_ && now - *swept_ > kSweepGap) unused_.clear();
  swept_ = now;
  std::map<std::string, Clock::Steady> unused;
  std::vector<std::string> over;
  for (const auto& [gang, name] : by_gang_) {
    if (!objects_.at(name).plan || jobs_.contains(gang) || exists(gang)) continue;
    const auto known = unused_.find(gang);
    const Clock::Steady since = known == unused_.end() ? now : known->second;
    if (now - since >= kUnusedFor) {
      over.push_back(gang);
    } else {
      unused.emplace(gang, since);
    }
  }
  unused_ = std::move(unused);
  for (const std::string& gang : over) remove(gang);
}

// --- what is wanted

ConfigMapPlans::Job& ConfigMapPlans::job_of(const std::string& gang) {
  return jobs_.try_emplace(gang, Backoff(kPauses, [this] { return jitter_(); })).first->second;
}

void ConfigMapPlans::put(const StoredPlan& plan, Done done) {
  auto text = plan_text(plan);
  if (!text) return done(std::move(text).error());
  const std::string gang = plan.gang;
  Job& job = job_of(gang);
  job.text = std::move(*text);
  job.fence = fence_();
  ++job.wish;
  if (forbidden_ || job.refused) return done({});
  if (job.dones.empty()) job.since = transport_.now();
  job.dones.emplace_back(job.wish, std::move(done));
  if (!job.busy) step(gang);
}

void ConfigMapPlans::remove(const std::string& gang) {
  Job& job = job_of(gang);
  job.text.reset();
  if (!by_gang_.contains(gang)) job.unclear = true;  // the watch may be behind
  job.fence = fence_();
  ++job.wish;
  const Dones dones = take_dones(job, job.wish);
  if (!job.busy && forbidden_) {
    jobs_.erase(gang);  // sweep() finds it when the right comes
  } else if (!job.busy) {
    step(gang);
  }
  answer(dones, make_error(Errc::unavailable, "the plan of gang " + gang + " was removed"));
}

void ConfigMapPlans::step(const std::string& gang) {
  Job& job = jobs_.at(gang);
  if (job.fence && !job.fence()) return call_off(gang, job);
  if (forbidden_ || !watch_.synced()) return;  // listed() goes on
  if (job.unclear) return read(gang, job);
  const Stored* stored = stored_of(gang);
  if (job.text && stored == nullptr) return create(gang, job);
  if (job.text) return replace(gang, job, *stored);
  if (stored != nullptr && stored->plan) return erase(gang, job, *stored);
  job.sent = job.wish;
  end(gang, job, {});
}

// --- requests

void ConfigMapPlans::create(const std::string& gang, Job& job) {
  while (job.nth <= kMaxPlanNames && objects_.contains(plan_object_name(gang, job.nth))) ++job.nth;
  if (job.nth > kMaxPlanNames) {
    job.nth = 1;
    job.sent = job.wish;
    return end(
        gang, job,
        make_error(Errc::limit_exceeded, "others have the names of the ConfigMaps of gang " + gang +
                                             ", the first is " + plan_object_name(gang, 1)));
  }
  job.name = plan_object_name(gang, job.nth);
  send(gang, job, kube::call_of("POST", path_, new_plan_object(ns_, job.name, gang, *job.text)),
       &ConfigMapPlans::created);
}

void ConfigMapPlans::created(const std::string& gang, Job& job, Result<kube::Reply> reply) {
  if (failed(gang, job, reply, {kube::kConflict})) return;
  if (reply->status == kube::kConflict) return conflict(gang, job);
  if (auto object = reader_.read_one(reply->body)) note(std::move(*object));
  end(gang, job, {});
}

void ConfigMapPlans::replace(const std::string& gang, Job& job, const Stored& stored) {
  job.name = by_gang_.at(gang);
  kube::Call call = kube::call_of("PATCH", path_ + "/" + job.name,
                                  plan_object_patch(stored.version, gang, *job.text));
  call.content_type = kMergePatch;
  send(gang, job, std::move(call), &ConfigMapPlans::replaced);
}

void ConfigMapPlans::replaced(const std::string& gang, Job& job, Result<kube::Reply> reply) {
  if (failed(gang, job, reply, {kube::kConflict, kube::kNotFound})) return;
  if (reply->status == kube::kConflict) return conflict(gang, job);
  if (reply->status == kube::kNotFound) {
    forget(job.name);
    return step(gang);
  }
  if (auto object = reader_.read_one(reply->body)) note(std::move(*object));
  end(gang, job, {});
}

// By an empty patch, whose answer is the object: admission policies see it and hold this account to
// the names that are its own, unlike a GET.
void ConfigMapPlans::read(const std::string& gang, Job& job) {
  const auto known = by_gang_.find(gang);
  job.name = known == by_gang_.end() ? plan_object_name(gang, job.nth) : known->second;
  kube::Call call = kube::call_of("PATCH", path_ + "/" + job.name, "{}");
  call.content_type = kMergePatch;
  send(gang, job, std::move(call), &ConfigMapPlans::was_read);
}

void ConfigMapPlans::was_read(const std::string& gang, Job& job, Result<kube::Reply> reply) {
  if (failed(gang, job, reply, {kube::kConflict, kube::kNotFound})) return;
  if (reply->status == kube::kConflict) return conflict(gang, job);
  if (reply->status == kube::kNotFound) {
    job.unclear = false;
    forget(job.name);
    return step(gang);
  }
  auto object = reader_.read_one(reply->body);
  if (!object || object->name != job.name) return retry(gang, job, Ms(0));
  job.unclear = false;
  note(std::move(*object));  // also if it is of another gang: create() takes another name then
  step(gang);
}

void ConfigMapPlans::erase(const std::string& gang, Job& job, const Stored& stored) {
  job.name = by_gang_.at(gang);
  send(gang, job,
       kube::call_of("DELETE", path_ + "/" + job.name, codec::write_delete_options(stored.version)),
       &ConfigMapPlans::erased);
}

void ConfigMapPlans::erased(const std::string& gang, Job& job, Result<kube::Reply> reply) {
  if (failed(gang, job, reply, {kube::kConflict, kube::kNotFound})) return;
  if (reply->status == kube::kConflict) return conflict(gang, job);
  forget(job.name);
  end(gang, job, {});
}

void ConfigMapPlans::send(const std::string& gang, Job& job, kube::Call call, Then then) {
  job.busy = true;
  job.sent = job.wish;
  call.deadline = kOneTry;
  call.may_send = job.fence;
  job.ticket = transport_.call(std::move(call), [this, gang, then](Result<kube::Reply> reply) {
    Job& answered = jobs_.at(gang);
    const auto ticket = std::move(answered.ticket);
    answered.busy = false;
    (this->*then)(gang, answered, std::move(reply));
  });
}

void ConfigMapPlans::pause(const std::string& gang, Job& job, Ms delay) {
  job.busy = true;
  job.ticket = transport_.after(delay, [this, gang] {
    Job& paused = jobs_.at(gang);
    const auto ticket = std::move(paused.ticket);
    paused.busy = false;
    step(gang);
  });
}

// --- answers. Callers are answered last: they may ask for something else at once.

bool ConfigMapPlans::failed(const std::string& gang, Job& job, const Result<kube::Reply>& reply,
                            std::initializer_list<int> expected) {
  if (reply && (reply->status / 100 == 2 ||
                std::find(expected.begin(), expected.end(), reply->status) != expected.end()))
    return false;
  if (!reply || kube::is_transient(reply->status)) {
    job.unclear = true;
    const seconds asked = reply && reply->retry_after ? *reply->retry_after : seconds(0);
    retry(gang, job, std::min<Ms>(asked, kLongestRetryAfter));
  } else if (reply->status == kube::kForbidden || reply->status == kube::kNotFound) {
    refused(gang, job, kube::problem_of(reply));
  } else {
    const Error why =
        make_error(Errc::invalid_argument,
                   "the plan of gang " + gang + " cannot be stored: " + kube::problem_of(reply));
    events_.unusable(job.name, why);
    end(gang, job, why);
  }
  return true;
}

void ConfigMapPlans::retry(const std::string& gang, Job& job, Ms at_least) {
  if (job.fence && !job.fence()) return call_off(gang, job);
  pause(gang, job, job.backoff.next(at_least));
  if (transport_.now() - job.since < kPatience) return;
  const Dones dones = take_dones(job, job.wish);
  answer(dones, make_error(Errc::unavailable,
                           "the API server does not answer whether the plan "
                           "of gang " +
                               gang + " is stored"));
}

// Also a namespace that does not exist.
void ConfigMapPlans::refused(const std::string& gang, Job& job, const std::string& problem) {
  const std::string object = "ConfigMap " + job.name;
  const Dones dones = take_dones(job, job.wish);
  job.refused = true;
  if (job.text) {
    pause(gang, job, job.backoff.next(kRefusedPause));
  } else {
    jobs_.erase(gang);
  }
  if (!std::exchange(refusal_told_, true)) {
    events_.unusable(
        "ConfigMap " + job.name,
        make_error(Errc::unavailable,
                   "gangs go on without stored plans, which a restart forgets: " + problem));
  }
  answer(dones, {});
}

// At once the first time, then with pauses.
void ConfigMapPlans::conflict(const std::string& gang, Job& job) {
  job.unclear = true;
  if (job.conflicts++ == 0) return step(gang);
  retry(gang, job, Ms(0));
}

void ConfigMapPlans::end(const std::string& gang, Job& job, const Result<void>& result) {
  const Dones dones = take_dones(job, job.sent);
  if (result) refusal_told_ = false;
  if (job.wish == job.sent) {
    jobs_.erase(gang);
  } else {
    job.backoff.reset();
    job.conflicts = 0;
    job.refused = false;
    job.unclear = false;
    if (!job.dones.empty()) job.since = transport_.now();
    step(gang);
  }
  answer(dones, result);
}

void ConfigMapPlans::call_off(const std::string& gang, Job& job) {
  const Dones dones = take_dones(job, job.wish);
  jobs_.erase(gang);
  answer(dones, make_error(Errc::unavailable, "this replica no longer leads; the plan of gang " +
                                                  gang + " was not stored"));
}

ConfigMapPlans::Dones ConfigMapPlans::take_dones(Job& job, std::uint64_t up_to) {
  Dones out;
  auto at = job.dones.begin();
  for (; at != job.dones.end() && at->first <= up_to; ++at) out.push_back(std::move(at->second));
  job.dones.erase(job.dones.begin(), at);
  return out;
}

void ConfigMapPlans::answer(const Dones& dones, const Result<void>& result) {
  for (const Done& done : dones) done(result);
}

}  // namespace chipweave::sched
