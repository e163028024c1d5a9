#include "node-agent/device_plugin/core/desk.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::device_plugin {
namespace {

constexpr std::size_t kMaxRuledOut = 8192;
constexpr int kMaxUnseenTurns = 8;

Preferred failed_ask(Errc code, const char* why) { return {make_error(code, why), {}}; }

// Why the asking container is not known.
std::string asker_unknown(const AskerSearch& search, int size) {
  if (!search.unknown.empty())
    return "the API server has not shown pod " + search.unknown.front() +
           ", which may be the one that asks";
  if (search.found.empty())
    return concat("the kubelet lists no pod that waits for ", size, " chips");
  return concat("any of ", search.found.size(), " pods may be the one that asks");
}

}  // namespace

void Desk::pod_seen(const codec::KubePod& pod) {
  const std::string key = pod.ns + "/" + pod.name;
  const PodRecord* former = book_.find(key);
  // It was listed before it was shown, so it has had its turn.
  if (former == nullptr || former->uid != pod.uid) {
    const auto turns = out_.unseen_turns.find(key);
    if (turns != out_.unseen_turns.end()) {
      out_.refused.insert(pod.uid);
      auto& [before, since] = turns->second;
      --(before > 0 ? before : since);
      if (before + since == 0) out_.unseen_turns.erase(turns);
    }
  }
  book_.take(pod);
  out_.never_seen.erase(key);
}

void Desk::list_requested() {
  for (auto& [key, turns] : out_.unseen_turns) turns = {turns.before + turns.since, 0};
}

void Desk::list_shown() {
  for (auto& [key, turns] : out_.unseen_turns) turns.before = 0;
  std::erase_if(out_.unseen_turns, [](const auto& one) { return one.second.since == 0; });
}

void Desk::kubelet_restarted() {
  out_.had_turn.clear();
  out_.answered.clear();
  out_.unseen_turns.clear();
  out_.never_seen.clear();
}

void Desk::learn_strangers(const Listed& list) {
  out_.strangers.clear();
  for (const Listed::Pod& listed : list.pods) {
    if (book_.find(listed.key) == nullptr) out_.strangers.insert(listed.key);
  }
}

void Desk::learn(const Listed& list) {
  for (const Listed::Pod& listed : list.pods) {
    const PodRecord* pod = book_.find(listed.key);
    if (pod == nullptr) continue;
    bool any = false;
    bool all = true;
    for (const AskingContainer& container : pod->containers) {
      if (container.init) continue;
      any = true;
      all = all && listed.has_chips(container.name);
    }
    if (any && all) out_.served.insert(pod->uid);
  }
  forget();
}

// Of pods that are gone for long.
void Desk::forget() {
  if (out_.never_seen.size() > kMaxRuledOut) out_.never_seen.clear();
  if (out_.unseen_turns.size() > kMaxRuledOut) out_.unseen_turns.clear();
  const auto exists = [&](const std::string& uid) {
    return std::any_of(book_.pods().begin(), book_.pods().end(),
                       [&](const auto& pod) { return pod.second.uid == uid; });
  };
  for (auto* set : {&out_.refused, &out_.served, &out_.had_turn}) {
    if (set->size() > kMaxRuledOut)
      std::erase_if(*set, [&](const std::string& uid) { return !exists(uid); });
  }
  if (out_.answered.size() > kMaxRuledOut)
    std::erase_if(out_.answered, [&](const auto& one) { return !exists(one.first); });
}

std::optional<Preferred> Desk::prefer(const AskedPreference& asked, const Listed& list,
                                      bool may_wait) {
  if (devices_ == nullptr) return failed_ask(Errc::unavailable, "the machine is not known yet");
  Ask ask;
  int foreign = 0;
  ask.must_include = devices_->chips(asked.must_include, &foreign);
  ask.available = devices_->chips(asked.available) | ask.must_include;
  ask.size = asked.size;
  if (foreign > 0 || ask.size < 1 || ask.size > devices_->count() ||
      ask.must_include.size() > ask.size)
    return failed_ask(Errc::invalid_argument, "this machine has no such chips");
  if (!follows_) return Preferred{choose_best(ask, {}, *devices_), {}};
  const AskerSearch search = find_asker(list, book_, out_, ask);
  if (!search.awaited.empty() && may_wait) return std::nullopt;
  out_.never_seen.insert(search.awaited.begin(), search.awaited.end());
  std::optional<Asker> asker;
  if (search.unknown.empty() && search.found.size() == 1) asker = search.found.front();
  Preferred out{choose_chips(ask, asker, asker ? "" : asker_unknown(search, ask.size), list, book_,
                             *devices_, policy_),
                {}};
  // Any of these may have had its turn now, the one that is known by that name or one after it.
  if (!asker) {
    for (const std::string& key : search.lacking) {
      if (const PodRecord* pod = book_.find(key)) out_.refused.insert(pod->uid);
      UnseenTurns& turns = out_.unseen_turns[key];
      if (turns.before + turns.since < kMaxUnseenTurns) ++turns.since;
    }
  }
  if (!asker) return out;
  out.container = asker->pod.key + "/" + asker->container.name;
  if (out.choice) {
    out_.answered.insert({asker->pod.uid, asker->container.name});
  } else {
    out_.refused.insert(asker->pod.uid);
  }
  turn_over(asker->pod, list);
  return out;
}

void Desk::turn_over(const PodRecord& asker, const Listed& list) {
  for (const Listed::Pod& listed : list.pods) {
    const PodRecord* pod = book_.find(listed.key);
    if (pod != nullptr && pod->uid != asker.uid) out_.had_turn.insert(pod->uid);
  }
}

StartCheck Desk::start(const std::vector<std::string>& ids, const Listed& list) const {
  if (devices_ != nullptr) return check_start(ids, list, book_, *devices_, policy_);
  StartCheck out;
  out.why = "the machine is not known yet";
  return out;
}

}  // namespace chipweave::device_plugin
