#include "node-agent/device_plugin/plugin.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/http/mailbox.hpp"
#include "common/obs/log.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "node-agent/device_plugin/core/desk.hpp"
#include "node-agent/device_plugin/core/gate.hpp"
#include "node-agent/device_plugin/wire/kubelet_client.hpp"
#include "node-agent/device_plugin/wire/plugin_server.hpp"
#include "node-agent/sources/file_watch.hpp"

namespace chipweave::device_plugin {
namespace {

using Steady = std::chrono::steady_clock;
using Ms = std::chrono::milliseconds;

std::optional<SocketId> socket_at(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
  return SocketId{found.st_ino,
                  std::int64_t{found.st_ctim.tv_sec} * 1'000'000'000 + found.st_ctim.tv_nsec};
}

// "nvidia.com/gpu" → "chipweave-nvidia.com-gpu.sock"
std::string socket_name(std::string resource) {
  std::replace(resource.begin(), resource.end(), '/', '-');
  return "chipweave-" + resource + ".sock";
}

KubeletClient::Options client_options(const PluginOptions& options) {
  KubeletClient::Options out;
  out.pod_resources = options.pod_resources;
  out.registration = options.folder + "/kubelet.sock";
  out.resource = options.resource;
  out.list_deadline = options.list_within;
  return out;
}

// The kubelet wants the chips of a container.
struct Preference {
  AskedPreference asked;
  KubeletCalls::Reply<Ids> reply;
  Steady::time_point begun;
  std::uint64_t number = 0;
  std::optional<Listed> list;
};

// A container is about to start.
struct Start {
  Ids ids;
  KubeletCalls::Reply<void> reply;
  Steady::time_point begun;
};

}  // namespace

struct Plugin::Impl : std::enable_shared_from_this<Impl> {
  Impl(http::Loop& l, PluginOptions o, PluginEvents e)
      : loop(l),
        options(std::move(o)),
        events(std::move(e)),
        desk(options.node, options.resource, options.on_mismatch, options.follows_pods),
        client(loop, client_options(options)),
        registration(options.waits),
        turn(options.turn),
        endpoint(socket_name(options.resource)),
        box(std::make_shared<http::Mailbox<Impl>>(loop, *this)) {}

  std::string own_socket() const { return options.folder + "/" + endpoint; }

  void after(Ms delay, void (Impl::*what)()) {
    loop.after(delay, [weak = weak_from_this(), what] {
      if (const auto self = weak.lock()) ((*self).*what)();
    });
  }

  // Registration.

  void look() {
    const auto now = Steady::now();
    if (registration.look(socket_at(options.folder + "/kubelet.sock"),
                          socket_at(own_socket()).has_value())) {
      obs::log(obs::Level::info, "the kubelet has started or stopped",
               {{"folder", options.folder}});
      desk.kubelet_restarted();
      gate.kubelet_lost();
      show_gate();
    }
    if (desk.devices() == nullptr || stopped) return;
    switch (registration.due(now)) {
      case Registration::Step::none:
        return;
      case Registration::Step::serve:
        serve();
        return look();
      case Registration::Step::enrol:
        enrol();
    }
  }

  void look_again() {
    look();
    after(options.look_every, &Impl::look_again);
  }

  void serve() {
    server.reset();  // which ends its calls
    preferences.clear();
    allocations.clear();
    starts.clear();
    checking = 0;
    KubeletCalls calls;
    calls.stream_opened = [this] {
      registration.stream_opened();
      enrolled();
    };
    calls.stream_ended = [this] {
      if (!registration.stream_ended(Steady::now())) return;
      obs::log(obs::Level::warn, "the kubelet has dropped the device plugin",
               {{"resource", options.resource}});
      gate.kubelet_lost();
      show_gate();
      after(options.waits.again, &Impl::look);
    };
    calls.preferred = [this](AskedPreference asked, KubeletCalls::Reply<Ids> reply) {
      preferences.push_back(
          {std::move(asked), std::move(reply), Steady::now(), ++last_number, std::nullopt});
      next();
    };
    calls.allocate = [this](std::vector<Ids> containers,
                            KubeletCalls::Reply<std::vector<Handed>> reply) {
      allocations.emplace_back(std::move(containers), std::move(reply));
      next();
    };
    calls.pre_start = [this](Ids ids, KubeletCalls::Reply<void> reply) {
      starts.push_back({std::move(ids), std::move(reply), Steady::now()});
      next();
    };
    auto made = PluginServer::start(loop, own_socket(), std::move(calls), sent);
    registration.served(made.ok(), Steady::now());
    if (made) {
      server = std::move(*made);
    } else {
      obs::log(obs::Level::error, "cannot serve the kubelet", {{"error", made.error().text()}});
      after(options.waits.again, &Impl::look);
    }
  }

  void enrol() {
    registration.sent();
    client.enrol(endpoint, [this](const Result<void>& answer) {
      registration.answered(answer.ok(), Steady::now());
      if (!answer) {
        obs::log(obs::Level::warn, "the kubelet does not register the device plugin",
                 {{"resource", options.resource}, {"error", printable(answer.error().text())}});
      }
      enrolled();
      after(options.waits.again, &Impl::look);
    });
  }

  void enrolled() {
    if (!registration.registered()) return;
    obs::log(obs::Level::info, "registered with the kubelet", {{"resource", options.resource}});
    gate.registered();
    if (!options.follows_pods) gate.complete();
    show_gate();
    next();
  }

  void show_gate() {
    if (std::exchange(shown_open, gate.open()) == gate.open()) return;
    obs::log(obs::Level::info, gate.open() ? "open for pods" : "closed for pods",
             {{"node", options.node}, {"resource", options.resource}});
    if (events.gate) events.gate(gate.open());
  }

  // The kubelet's calls.

  // What is to be done next. One list at a time, and none while the kubelet allocates.
  void next() {
    if (client.listing() || stopped) return;
    while (!allocations.empty()) {
      auto [containers, reply] = std::move(allocations.front());
      allocations.pop_front();
      reply(allocate(containers));
    }
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
    if (starts.empty() && !(gate.wants_list() && pods_known)) return;
    if (turn.open(now)) return ask_list(&Impl::list_for_starts);
    after(std::chrono::ceil<Ms>(turn.opens() - now), &Impl::next);
  }

  void ask_list(void (Impl::*then)(Result<Listed>)) {
    client.list([this, then](Result<Listed> list) {
      if (list) learn(*list);
      (this->*then)(std::move(list));
    });
    // Those that come from now on may be younger than this list.
    checking = starts.size();
  }

  void learn(const Listed& list) {
    desk.learn(list);
    if (!gate.wants_list() || !pods_known) return;
    if (preferences.empty()) desk.learn_strangers(list);
    if (!missing_in(list, desk.book()).empty()) return;
    gate.complete();
    show_gate();
  }

  void list_for_preference(Result<Listed> list) {
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

  void prefer() {
    Preference& first = preferences.front();
    const auto until = first.begun + options.wait_for_pod;
    const auto left = until - Steady::now();
    const auto preferred = desk.prefer(first.asked, first.list.value_or(Listed()), left > Ms(0));
    if (!preferred) return after(std::chrono::ceil<Ms>(left), &Impl::next);
    note(*preferred);
    if (preferred->choice) turn.preferred(Steady::now());
    const auto reply = std::move(first.reply);
    preferences.pop_front();
    const Result<Choice>& choice = preferred->choice;
    reply(choice ? Result<Ids>(desk.devices()->ids(choice->chips)) : choice.error());
    next();
  }

  void note(const Preferred& preferred) const {
    const std::string who =
        preferred.container.empty() ? "unknown" : printable(preferred.container);
    const Result<Choice>& choice = preferred.choice;
    if (!choice) {
      return obs::log(obs::Level::warn, "refused chips",
                      {{"container", who}, {"why", printable(choice.error().text())}});
    }
    const std::string chips = comma_list(desk.devices()->topology().indices(choice->chips));
    if (choice->by == Choice::By::adopted) {
      return obs::log(
          obs::Level::warn, "other chips than those of the decision",
          {{"container", who}, {"chips", chips}, {"why", printable(choice->why_adopted)}});
    }
    obs::log(obs::Level::info, "chips named",
             {{"container", who},
              {"chips", chips},
              {"by", choice->by == Choice::By::decision ? "decision" : "selector"}});
  }

  Result<std::vector<Handed>> allocate(const std::vector<Ids>& containers) {
    turn.allocated(Steady::now());
    std::vector<Handed> out;
    for (const Ids& ids : containers) {
      int foreign = 0;
      const DevicesPtr& devices = desk.devices();
      const ChipSet chips = devices == nullptr ? ChipSet() : devices->chips(ids, &foreign);
      if (foreign > 0 || chips.empty())
        return make_error(Errc::not_found, "this machine has no such chips");
      out.push_back(hand_over(options.hand_over, chips, *devices, drm));
    }
    return out;
  }

  void list_for_starts(Result<Listed> list) {
    if (check_starts(list) || !list || gate.wants_list())
      return after(options.list_again, &Impl::next);
    next();
  }

  // True: some must be checked again by another list.
  bool check_starts(const Result<Listed>& list) {
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

  void finish(const Start& start, const StartCheck& check) {
    const std::string pod = printable(check.pod.key);
    switch (check.verdict) {
      case StartCheck::Verdict::start:
        return start.reply({});
      case StartCheck::Verdict::unknown:
        return start.reply(make_error(Errc::unavailable, check.why));
      case StartCheck::Verdict::refuse:
        obs::log(obs::Level::warn, "refused to start a container",
                 {{"pod", pod}, {"why", printable(check.why)}});
        return start.reply(make_error(Errc::conflict, check.why));
      case StartCheck::Verdict::adopt:
        obs::log(obs::Level::warn, "the annotation of a pod is corrected",
                 {{"pod", pod}, {"why", printable(check.why)}});
        if (!events.correct) return start.reply(make_error(Errc::unavailable, check.why));
        events.correct(check.pod, check.placement,
                       [reply = start.reply](const Result<void>& done) { reply(done); });
    }
  }

  // current: whether the report still holds.
  void offer(bool current) {
    if (desk.devices() == nullptr) return;
    auto list = offered(*desk.devices(), current);
    if (list == sent) return;
    sent = std::move(list);
    if (server) server->offer(sent);
  }

  http::Loop& loop;
  PluginOptions options;
  PluginEvents events;
  Desk desk;
  bool pods_known = false;
  solver::MachineCache machines;
  std::vector<OfferedDevice> sent;
  std::vector<std::vector<std::string>> drm;
  KubeletClient client;
  Registration registration;
  Gate gate;
  bool shown_open = false;
  ListTurn turn;
  std::string endpoint;
  std::deque<Preference> preferences;
  std::uint64_t last_number = 0;
  std::uint64_t listed_for = 0;  // the number of the one that the list is for
  std::deque<std::pair<std::vector<Ids>, KubeletCalls::Reply<std::vector<Handed>>>> allocations;
  std::vector<Start> starts;
  std::size_t checking = 0;  // of `starts`, by the list in flight
  bool stopped = false;
  std::unique_ptr<PluginServer> server;
  std::shared_ptr<http::Mailbox<Impl>> box;
  std::unique_ptr<agent::FileWatch> watch;
};

Plugin::Plugin(http::Loop& loop, PluginOptions options, PluginEvents events)
    : impl_(std::make_shared<Impl>(loop, std::move(options), std::move(events))) {}

Plugin::~Plugin() {
  impl_->stopped = true;
  impl_->watch.reset();
  impl_->box->cut();
  impl_->server.reset();
}

void Plugin::start() {
  impl_->watch = std::make_unique<agent::FileWatch>(
      std::vector{impl_->options.folder + "/kubelet.sock", impl_->own_socket()},
      [box = impl_->box] { box->post([](Impl& self) { self.look(); }); });
  impl_->look_again();
}

void Plugin::machine(const domain::NodeTopology& topology,
                     std::vector<std::vector<std::string>> drm) {
  impl_->drm = std::move(drm);
  impl_->desk.machine(std::make_shared<const Devices>(topology, impl_->machines.get(topology)));
  impl_->offer(true);
  impl_->look();
}

void Plugin::machine_unknown() { impl_->offer(false); }

void Plugin::pod_seen(const codec::KubePod& pod) {
  impl_->desk.pod_seen(pod);
  if (!impl_->preferences.empty()) impl_->next();
}

void Plugin::pod_gone(const std::string& key) { impl_->desk.pod_gone(key); }

void Plugin::pods_listed() {
  impl_->pods_known = true;
  impl_->next();
}

void Plugin::close_gate() {
  impl_->gate.close();
  impl_->show_gate();
}

}  // namespace chipweave::device_plugin
