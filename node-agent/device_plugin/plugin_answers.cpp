// The kubelet's calls and their answers.
#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/obs/log.hpp"
#include "node-agent/device_plugin/plugin_impl.hpp"

namespace chipweave::device_plugin {

void Plugin::Impl::next() {
  if (client.listing() || stopped) return;
  // Another resource's plugin has asked, which takes a moment.
  if (share->listing) return after(options.lists_again, &Impl::next);
  while (!allocations.empty()) {
    Allocation one = std::move(allocations.front());
    allocations.pop_front();
    allocate(std::move(one));
  }
  if (allocating > 0) return;
  if (!preferences.empty()) {
    if (preferences.front().list || !options.follows_pods) return prefer();
    listed_for = preferences.front().number;
    return ask_list(&Impl::list_for_preference);
  }
  const auto now = Steady::now();
  if (!options.follows_pods) {
    for (Start& start : std::exchange(starts, {})) start.reply({});
    return;
  }
  if (starts.empty() && !(gate.wants_list() && pods_known) && !wants_held(now)) return;
  if (share->turn.open(now)) return ask_list(&Impl::list_for_starts);
  Ms wait = std::chrono::ceil<Ms>(share->turn.opens() - now);
  // The other resource's plugin does not say when its allocation has come.
  if (others) wait = std::min(wait, options.turn.recorded);
  after(wait, &Impl::next);
}

void Plugin::Impl::ask_list(void (Impl::*then)(Result<Listed>&&)) {
  share->listing = true;
  client.list([this, then, asked_in = era](Result<Listed> list) {
    share->listing = false;
    if (list) {
      learn_held(*list, asked_in);
      learn(*list);
    }
    (this->*then)(std::move(list));
  });
  // Those that come from now on may be younger than this list.
  checking = starts.size();
}

void Plugin::Impl::learn(const Listed& list) {
  desk.learn(list);
  if (!gate.wants_list() || !pods_known) return;
  if (preferences.empty()) desk.learn_strangers(list);
  if (!missing_in(list, desk.book()).empty()) return;
  gate.complete();
  show_gate();
}

bool Plugin::Impl::wants_held(Steady::time_point now) const {
  if (!others || whose != Whose::ours || !pods_known || desk.devices() == nullptr) return false;
  return !held || (!held->empty() && now >= held_due);
}

// The other resource's plugin gives nothing away in this era, so there can only be fewer.
void Plugin::Impl::learn_held(const Listed& list, int era_of_list) {
  if (!others || whose != Whose::ours || !pods_known || era_of_list != era) return;
  if (desk.devices() == nullptr) return;
  ChipSet chips = held_by_others(list, *others, *desk.devices());
  if (held) chips = chips & held_chips();
  held_due = Steady::now() + options.held_again;
  if (!chips.empty()) after(options.held_again, &Impl::next);
  Ids ids = desk.devices()->ids(chips);
  if (held == ids) return;
  if (!ids.empty() || held) {
    obs::log(obs::Level::info, "chips of another resource's containers are not given away",
             {{"resource", options.resource},
              {"other", options.other_resource},
              {"chips", comma_list(desk.devices()->topology().indices(chips))}});
  }
  held = std::move(ids);
  gate.decided(true);
  take_devices();
  show_gate();
}

ChipSet Plugin::Impl::held_chips() const {
  int foreign = 0;
  const ChipSet chips = held ? desk.devices()->chips(*held, &foreign) : ChipSet();
  // The machine has changed.
  return foreign > 0 ? desk.devices()->topology().all() : chips;
}

Error Plugin::Impl::not_offered() const {
  return make_error(Errc::conflict, "this node does not offer " + options.resource + " now");
}

void Plugin::Impl::list_for_preference(Result<Listed>&& list) {
  if (preferences.empty() || preferences.front().number != listed_for) return next();
  Preference& first = preferences.front();
  if (list) {
    check_starts(list);
    first.list = std::move(*list);
    return next();
  }
  const bool retry = Steady::now() < first.begun + options.list_within;
  if (retry) return after(options.list_again, &Impl::next);
  obs::log(obs::Level::warn, "the kubelet does not list its pods",
           {{"error", printable(list.error().text())}});
  first.list.emplace();  // no pod in it can be the one that asks
  next();
}

void Plugin::Impl::want_list() {
  if (desk.awaits_list() && events.wants_list) events.wants_list();
}

void Plugin::Impl::prefer() {
  Preference& first = preferences.front();
  if (!stop_lists(first)) return after(options.lists_again, &Impl::next);
  const auto until = first.begun + options.wait_for_pod;
  const auto left = until - Steady::now();
  auto preferred = desk.prefer(first.asked, first.list.value_or(Listed()), left > Ms(0));
  if (!preferred) {
    allow_lists();
    return after(std::chrono::ceil<Ms>(left), &Impl::next);
  }
  if (!offering()) preferred->choice = not_offered();
  note(*preferred);
  want_list();
  if (preferred->choice) share->turn.preferred(Steady::now());
  allow_lists();
  const auto reply = std::move(first.reply);
  const Result<Choice>& choice = preferred->choice;
  answered("preferred", choice ? name_of(choice->by) : "refused", first.begun);
  preferences.pop_front();
  reply(choice ? Result<Ids>(desk.devices()->ids(choice->chips)) : choice.error());
  next();
}

bool Plugin::Impl::stop_lists(Preference& before) {
  if (!share->lock || share->lock->take()) return true;
  const auto now = Steady::now();
  if (!before.held_up) before.held_up = now;
  if (now < *before.held_up + options.wait_for_lists) return false;
  obs::log(obs::Level::warn,
           "the agent's request for the kubelet's list does not end: chips are named meanwhile",
           {{"waited_ms", static_cast<int>(options.wait_for_lists.count())}});
  return true;
}

void Plugin::Impl::allow_lists() {
  if (!share->lock || !share->lock->taken()) return;
  const auto now = Steady::now();
  if (!share->turn.open(now))
    return after(std::chrono::ceil<Ms>(share->turn.opens() - now), &Impl::allow_lists);
  if (allocating == 0) share->lock->give_back();
}

void Plugin::Impl::note(const Preferred& preferred) const {
  const std::string who = preferred.container.empty() ? "unknown" : printable(preferred.container);
  const Result<Choice>& choice = preferred.choice;
  if (!choice) {
    return obs::log(obs::Level::warn, "refused chips",
                    {{"resource", options.resource},
                     {"container", who},
                     {"why", printable(choice.error().text())}});
  }
  const std::string chips = comma_list(desk.devices()->topology().indices(choice->chips));
  if (choice->by == Choice::By::adopted) {
    return obs::log(obs::Level::warn, "other chips than those of the decision",
                    {{"resource", options.resource},
                     {"container", who},
                     {"chips", chips},
                     {"why", printable(choice->why_adopted)}});
  }
  obs::log(obs::Level::info, "chips named",
           {{"resource", options.resource},
            {"container", who},
            {"chips", chips},
            {"by", name_of(choice->by)}});
}

void Plugin::Impl::allocate(Allocation one) {
  // They are stopped already if a set was named before.
  if (share->lock) share->lock->take();
  auto handed = hand_out(one.containers);
  const auto finish = [this, reply = std::move(one.reply),
                       begun = one.begun](const Result<std::vector<Handed>>& result) {
    share->turn.allocated(Steady::now());
    allow_lists();
    answered("allocate", result ? "given" : "failed", begun);
    if (!result)
      obs::log(obs::Level::warn, "cannot hand over chips",
               {{"resource", options.resource}, {"error", printable(result.error().text())}});
    reply(result);
  };
  if (!handed || !vendor) return finish(handed);
  ++allocating;
  vendor->allocate(one.containers, [this, finish](const Result<std::vector<Handed>>& result) {
    --allocating;
    finish(result);
    next();
  });
}

Result<std::vector<Handed>> Plugin::Impl::hand_out(const std::vector<Ids>& containers) const {
  if (!offering()) return not_offered();
  std::vector<Handed> out;
  for (const Ids& ids : containers) {
    int foreign = 0;
    const DevicesPtr& devices = desk.devices();
    const ChipSet chips = devices == nullptr ? ChipSet() : devices->chips(ids, &foreign);
    if (foreign > 0 || chips.empty())
      return make_error(Errc::not_found, "this machine has no such chips");
    if (others && chips.intersects(held_chips())) {
      return make_error(Errc::conflict,
                        "containers with " + options.other_resource + " have chips of these");
    }
    auto handed = hand_over(options.hand_over, chips, *devices, host);
    if (!handed) return std::move(handed).error();
    out.push_back(std::move(*handed));
  }
  return out;
}

void Plugin::Impl::list_for_starts(Result<Listed>&& list) {
  if (check_starts(list) || !list || gate.wants_list())
    return after(options.list_again, &Impl::next);
  next();
}

bool Plugin::Impl::check_starts(const Result<Listed>& list) {
  std::vector<Start> young(
      std::make_move_iterator(starts.begin() + static_cast<std::ptrdiff_t>(checking)),
      std::make_move_iterator(starts.end()));
  starts.resize(checking);
  std::vector<Start> old = std::exchange(starts, std::move(young));
  bool again = false;
  for (Start& start : old) {
    StartCheck check;
    if (!list) {
      check.why = "the kubelet does not list its pods: " + list.error().text();
    } else {
      check = desk.start(start.ids, *list);
    }
    if (check.verdict == StartCheck::Verdict::unknown &&
        Steady::now() < start.begun + options.start_within) {
      starts.push_back(std::move(start));
      again = true;
      continue;
    }
    finish(start, check);
  }
  return again;
}

void Plugin::Impl::finish(const Start& start, const StartCheck& check) {
  const std::string pod = printable(check.pod.key);
  switch (check.verdict) {
    case StartCheck::Verdict::start:
      answered("start", "started", start.begun);
      return begin_container(start, {});
    case StartCheck::Verdict::unknown:
      answered("start", "failed", start.begun);
      return start.reply(make_error(Errc::unavailable, check.why));
    case StartCheck::Verdict::refuse:
      answered("start", "refused", start.begun);
      obs::log(obs::Level::warn, "refused to start a container",
               {{"resource", options.resource}, {"pod", pod}, {"why", printable(check.why)}});
      return start.reply(make_error(Errc::conflict, check.why));
    case StartCheck::Verdict::adopt:
      obs::log(obs::Level::warn, "the annotation of a pod is corrected",
               {{"resource", options.resource}, {"pod", pod}, {"why", printable(check.why)}});
      answered("start", "adopted", start.begun);
      if (!events.correct) return start.reply(make_error(Errc::unavailable, check.why));
      events.correct(check.pod, check.placement,
                     [weak = weak_from_this(), start](const Result<void>& done) {
                       const auto self = weak.lock();
                       self ? self->begin_container(start, done) : start.reply(done);
                     });
  }
}

void Plugin::Impl::begin_container(const Start& start, const Result<void>& checked) {
  if (!checked || !vendor) return start.reply(checked);
  vendor->pre_start(start.ids, start.reply);
}

}  // namespace chipweave::device_plugin
