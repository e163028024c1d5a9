#include "common/kube/config_map_keeper.hpp"

#include <algorithm>
#include <utility>

#include "common/base/stable_hash.hpp"
#include "common/base/text.hpp"

namespace chipweave::kube {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

// The keys of `wanted` that must be set on `there`.
codec::StringChanges missing(const codec::StringMap& there, const codec::StringMap& wanted) {
  codec::StringChanges out;
  for (const auto& [key, value] : wanted) {
    const auto found = there.find(key);
    if (found == there.end() || found->second != value) out[key] = value;
  }
  return out;
}

// Of the keys of `keys`, as they are in `data`.
std::string content_hash(const codec::StringMap& keys, const codec::StringMap& data) {
  std::string text;
  for (const auto& [key, value] : keys) {
    const auto found = data.find(key);
    text += key + "\n" + (found == data.end() ? "" : found->second) + "\n";
  }
  return hexadecimal(stable_hash(text));
}

}  // namespace

ConfigMapKeeper::ConfigMapKeeper(Transport& transport, const Clock& clock, Options options,
                                 Events events)
    : transport_(transport),
      clock_(clock),
      options_(std::move(options)),
      events_(std::move(events)),
      chain_(transport, options_.chain,
             {[this] { look(Freshness::newest); }, [this](bool yes) { events_.works(yes); },
              [this](const std::string& problem) {
                if (events_.refused) events_.refused(problem);
              }}),
      check_({options_.check_every, options_.check_every}, Backoff::seeded(options_.chain.seed)),
      pace_(options_.write_gap),
      path_(codec::config_map_path(options_.ns) + "/" + options_.name) {}

void ConfigMapKeeper::want(std::optional<Wanted> wanted) {
  const bool fresh = wanted.has_value() != wanted_.has_value();
  wanted_ = std::move(wanted);
  if (phase_ != Phase::resting) return;
  // Nothing was read while no ConfigMap was wanted.
  fresh ? look(Freshness::newest) : step();
}

void ConfigMapKeeper::start() { look(Freshness::newest); }

void ConfigMapKeeper::release() {
  options_.held = false;
  if (phase_ == Phase::resting) step();
}

void ConfigMapKeeper::stop() {
  phase_ = Phase::stopped;
  chain_.stop();
}

void ConfigMapKeeper::look(Freshness freshness) {
  phase_ = Phase::busy;
  const bool any = freshness == Freshness::any && !options_.read_by_patch;
  Call call = call_of(options_.read_by_patch ? "PATCH" : "GET",
                      path_ + (any ? "?resourceVersion=0" : ""), "");
  if (options_.read_by_patch) {
    call.body = "{}";
    call.content_type = kMergePatch;
  }
  chain_.send(std::move(call), [this](Result<Reply> reply) { looked(std::move(reply)); });
}

void ConfigMapKeeper::looked(Result<Reply> reply) {
  if (chain_.failed("cannot read it", reply, {kNotFound})) return;
  stored_.reset();
  if (reply->status != kNotFound) {
    if (!take(std::move(reply->body))) return;
    // A writer that replaces the whole object drops our label.
    if (stored_by_us_ && !is_ours())
      chain_.note("another program writes it, too: only one of them may run");
  }
  if (events_.looked) events_.looked();
  const auto found = std::exchange(events_.found, nullptr);
  if (found && stored_) found(stored_->data);
  step();
}

void ConfigMapKeeper::step() {
  phase_ = options_.held ? Phase::resting : Phase::busy;
  if (options_.held) return;
  if (!wanted_) {
    if (stored_ && is_ours()) return remove();
    return rest();
  }
  if (!stored_) return wanted_->create ? create() : rest();
  if (others_write()) {
    return chain_.refused(options_.ns + "/" + options_.name +
                          " is written by another program and is left as it is");
  }
  if (!is_ours() && !options_.take_over) {
    return chain_.refused(options_.ns + "/" + options_.name +
                          " was made by another program and is left as it is");
  }
  if (changes_for(stamp_).none() && !must_rewrite()) return rest();
  patch();
}

void ConfigMapKeeper::send_write(Call call, ApiChain::Then then) {
  call.may_send = options_.may_send;
  chain_.send(std::move(call), std::move(then));
}

bool ConfigMapKeeper::may_write() {
  const Ms left = pace_.left(transport_.now());
  if (left == Ms(0)) {
    pace_.sent(transport_.now());
    return true;
  }
  chain_.wait(left, [this] { step(); });
  return false;
}

void ConfigMapKeeper::create() {
  if (!may_write()) return;
  stamp_ = next_stamp();
  sent_ = wanted_->data(stamp_);
  codec::StringMap data = sent_;
  for (const auto& [key, value] : sent_) data_keys_.insert(key);
  for (const std::string& key : wanted_->edited) data.try_emplace(key, edited_[key]);
  send_write(call_of("POST", codec::config_map_path(options_.ns),
                     codec::write_config_map(options_.ns, options_.name, all_labels(sent_), data,
                                             {}, wanted_->owners)),
             [this](Result<Reply> reply) {
               if (reply && reply->status == kNotFound) {
                 return chain_.refused("namespace " + options_.ns + " does not exist");
               }
               written(std::move(reply), kConflict);
             });
}

void ConfigMapKeeper::patch() {
  if (!may_write()) return;
  stamp_ = next_stamp();
  sent_ = wanted_->data(stamp_);
  for (const auto& [key, value] : sent_) data_keys_.insert(key);
  const codec::ObjectChanges changes = changes_for(stamp_);
  Call call = call_of("PATCH", path_, codec::write_merge_patch(stored_->version, changes));
  call.content_type = kMergePatch;
  send_write(std::move(call),
             [this](Result<Reply> reply) { written(std::move(reply), kNotFound); });
}

void ConfigMapKeeper::written(Result<Reply> reply, int also_expected) {
  if (chain_.failed("cannot write it", reply, {kConflict, also_expected})) return;
  if (reply->status == kConflict || reply->status == kNotFound) return chain_.look_again();
  if (!take(std::move(reply->body))) return;
  // An admission controller undoes the change: do not write it again every second.
  if (!missing(stored_->data, sent_).empty() || !is_ours() || !has_owners()) {
    return chain_.refused("the API server has stored something else than was written");
  }
  stored_by_us_ = true;
  last_write_ = transport_.now();
  if (events_.written) events_.written(sent_);
  chain_.succeeded();
  step();
}

void ConfigMapKeeper::remove() {
  if (!may_write()) return;
  send_write(call_of("DELETE", path_, codec::write_delete_options(stored_->version)),
             [this](Result<Reply> reply) {
               if (chain_.failed("cannot delete it", reply, {kConflict, kNotFound})) return;
               if (reply->status == kConflict) return chain_.look_again();
               stored_.reset();
               stored_by_us_ = false;
               step();
             });
}

void ConfigMapKeeper::rest() {
  chain_.succeeded();
  phase_ = Phase::resting;
  if (!wanted_) return;  // the next want() reads it first
  Ms wait = check_.next();
  if (options_.rewrite_every > Ms(0)) {
    const auto due = last_write_ + options_.rewrite_every - transport_.now();
    wait = std::clamp(std::chrono::ceil<Ms>(due), Ms(0), wait);
  }
  chain_.wait(wait, [this] { look(Freshness::any); });
}

bool ConfigMapKeeper::take(std::string body) {
  auto object = codec::read_stored_object(body);
  if (!object) {
    stored_.reset();
    chain_.refused("the API server's answer is not understood: " + object.error().text());
    return false;
  }
  stored_ = std::move(object).value();
  take_stamp();
  report_edited();
  return true;
}

void ConfigMapKeeper::report_edited() {
  if (!wanted_) return;
  bool changed = false;
  for (const std::string& key : wanted_->edited) {
    const auto found = stored_->data.find(key);
    std::string& known = edited_[key];
    if (found == stored_->data.end() || found->second == known) continue;
    known = found->second;
    changed = true;
  }
  if (changed && events_.seen) events_.seen(edited_);
}

void ConfigMapKeeper::take_stamp() {
  constexpr std::int64_t kAhead = 86'400;  // of our clock, in seconds
  if (!options_.shared || stamp_ != 0) return;
  const auto stored = stored_->data.find(options_.shared->stamp_key);
  if (stored == stored_->data.end()) return;
  const auto stamp = parse_number<std::int64_t>(stored->second);
  if (stamp && *stamp > 0 && *stamp < next_stamp() + kAhead) stamp_ = *stamp;
}

bool ConfigMapKeeper::others_write() const {
  if (!options_.shared || options_.shared->replaceable(stored_->data)) return false;
  const auto label = stored_->labels.find(options_.shared->content_label);
  return label == stored_->labels.end() ||
         label->second != content_hash(wanted_->data(stamp_), stored_->data);
}

bool ConfigMapKeeper::is_ours() const {
  if (options_.shared) return true;
  const auto label = stored_->labels.find(kManagedByLabel);
  return label != stored_->labels.end() && label->second == options_.managed_by &&
         missing(stored_->labels, options_.marks).empty();
}

bool ConfigMapKeeper::has_owners() const {
  return !wanted_ || options_.shared ||
         std::all_of(wanted_->owners.begin(), wanted_->owners.end(),
                     [&](const codec::ObjectOwner& owner) {
                       const auto& there = stored_->owners;
                       return std::find(there.begin(), there.end(), owner.uid) != there.end();
                     });
}

bool ConfigMapKeeper::must_rewrite() const {
  return options_.rewrite_every > Ms(0) && transport_.now() - last_write_ >= options_.rewrite_every;
}

std::int64_t ConfigMapKeeper::next_stamp() const {
  const auto now =
      std::chrono::floor<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
  return std::max<std::int64_t>(now, stamp_ + 1);
}

codec::ObjectChanges ConfigMapKeeper::changes_for(std::int64_t stamp) const {
  codec::ObjectChanges out;
  const codec::StringMap data = wanted_->data(stamp);
  out.labels = missing(stored_->labels, all_labels(data));
  out.data = missing(stored_->data, data);
  if (!has_owners()) out.owners = wanted_->owners;
  for (const std::string& key : data_keys_) {
    if (!data.contains(key) && stored_->data.contains(key)) out.data[key] = std::nullopt;
  }
  for (const std::string& key : wanted_->edited) {
    if (stored_->data.contains(key)) continue;
    const auto known = edited_.find(key);
    out.data[key] = known == edited_.end() ? "" : known->second;
  }
  return out;
}

codec::StringMap ConfigMapKeeper::all_labels(const codec::StringMap& data) const {
  codec::StringMap out = keeps_found() ? codec::StringMap{} : wanted_->labels;
  out.insert(options_.marks.begin(), options_.marks.end());
  if (options_.shared) {
    out[options_.shared->content_label] = content_hash(data, data);
  } else {
    out[kManagedByLabel] = options_.managed_by;
  }
  return out;
}

}  // namespace chipweave::kube
