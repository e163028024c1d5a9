// The state of a Plugin. Internal to plugin.cpp (registration, gate, offers) and
// plugin_answers.cpp (the kubelet's calls).
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/http/mailbox.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "node-agent/device_plugin/core/desk.hpp"
#include "node-agent/device_plugin/core/gate.hpp"
#include "node-agent/device_plugin/core/held.hpp"
#include "node-agent/device_plugin/list_share.hpp"
#include "node-agent/device_plugin/plugin.hpp"
#include "node-agent/device_plugin/wire/kubelet_client.hpp"
#include "node-agent/device_plugin/wire/plugin_server.hpp"
#include "node-agent/device_plugin/wire/vendor_link.hpp"
#include "node-agent/sources/file_watch.hpp"
#include "node-agent/sources/host_devices.hpp"

namespace chipweave::device_plugin {

// The kubelet wants the chips of a container.
struct Preference {
  AskedPreference asked;
  KubeletCalls::Reply<Ids> reply;
  std::chrono::steady_clock::time_point begun;
  std::uint64_t number = 0;
  std::optional<Listed> list;
  // Since when it waits for the agent's list to end; nullopt: it has not come to that.
  std::optional<std::chrono::steady_clock::time_point> held_up = std::nullopt;
};

// Chips are given to containers.
struct Allocation {
  std::vector<Ids> containers;
  KubeletCalls::Reply<std::vector<Handed>> reply;
  std::chrono::steady_clock::time_point begun;
};

// A container is about to start.
struct Start {
  Ids ids;
  KubeletCalls::Reply<void> reply;
  std::chrono::steady_clock::time_point begun;
};

struct Plugin::Impl : std::enable_shared_from_this<Impl> {
  using Steady = std::chrono::steady_clock;
  using Ms = std::chrono::milliseconds;

  // With another resource: which of the two has the chips.
  enum class Whose { unknown, ours, theirs };

  Impl(http::Loop& l, PluginOptions o, PluginEvents e, std::shared_ptr<ListShare> s);

  std::string own_socket() const { return options.folder + "/" + endpoint; }
  void after(Ms delay, void (Impl::*what)()) {
    loop.after(delay, [weak = weak_from_this(), what] {
      if (const auto self = weak.lock()) ((*self).*what)();
    });
  }

  // Registration.
  void look();
  void look_again();
  void serve();
  void enrol();
  void enrolled();
  void show_gate();

  // The kubelet's calls.
  // What is to be done next. One list at a time, and none while the kubelet allocates.
  void next();
  void ask_list(void (Impl::*then)(Result<Listed>&&));
  void learn(const Listed& list);
  // Chips of the other resource's containers. era_of_list: when it was requested.
  void learn_held(const Listed& list, int era_of_list);
  bool wants_held(Steady::time_point now) const;
  ChipSet held_chips() const;
  // Whether chips may be given away: not while the other resource has them, or may have.
  bool offering() const { return !others || (whose == Whose::ours && held); }
  Error not_offered() const;
  void list_for_preference(Result<Listed>&& list);
  void prefer();
  void want_list();
  void note(const Preferred& preferred) const;
  // Keeps the agent from listing. False: a list of its is in flight, which is worth waiting for.
  bool stop_lists(Preference& before);
  // Lets it, as soon as nothing is being given away.
  void allow_lists();
  void allocate(Allocation one);
  Result<std::vector<Handed>> hand_out(const std::vector<Ids>& containers) const;
  void list_for_starts(Result<Listed>&& list);
  // True: some must be checked again by another list.
  bool check_starts(const Result<Listed>& list);
  void finish(const Start& start, const StartCheck& check);
  void begin_container(const Start& start, const Result<void>& checked);

  // The chips, as the agent and the vendor's plugin report them.
  void take_devices();
  void vendor_says(const std::optional<std::vector<OfferedDevice>>& devices);
  // What the other resource's containers have is not healthy for the kubelet's choice here.
  void withhold();
  // All are unhealthy while the report of the agent does not hold, or the vendor's plugin is away.
  void offer();
  void pods_are_stale(bool yes);

  void show_standing() const {
    if (events.standing) events.standing(options.resource, standing);
  }
  void answered(std::string_view call, std::string_view outcome, Steady::time_point begun) const {
    if (events.answered) events.answered(options.resource, call, outcome, Steady::now() - begun);
  }

  http::Loop& loop;
  PluginOptions options;
  agent::SystemDevices host;
  PluginEvents events;
  Desk desk;
  bool pods_known = false;
  std::optional<domain::NodeTopology> topology;             // nullopt: not known yet
  bool current = false;                                     // whether the report about it holds
  std::optional<std::vector<OfferedDevice>> vendor_offers;  // as heard last
  std::vector<std::string> unknown_devices;                 // as logged
  PluginStanding standing;
  solver::MachineCache machines;
  std::vector<OfferedDevice> sent;
  KubeletClient client;
  Registration registration;
  Gate gate;
  bool shown_open = false;
  std::shared_ptr<ListShare> share;
  std::optional<PodBook> others;  // pods of the other resource; nullopt: there is none
  Whose whose = Whose::unknown;
  int era = 0;              // which changes
  std::optional<Ids> held;  // by the other resource's containers; nullopt: not known in this era
  Steady::time_point held_due{};
  std::string endpoint;
  std::deque<Preference> preferences;
  std::uint64_t last_number = 0;
  std::uint64_t listed_for = 0;  // the number of the one that the list is for
  std::deque<Allocation> allocations;
  int allocating = 0;  // by the vendor's plugin
  std::vector<Start> starts;
  std::size_t checking = 0;  // of `starts`, by the list in flight
  bool stopped = false;
  std::unique_ptr<PluginServer> server;
  std::unique_ptr<VendorLink> vendor;  // null: there is none
  std::shared_ptr<http::Mailbox<Impl>> box;
  std::unique_ptr<agent::FileWatch> watch;
};

}  // namespace chipweave::device_plugin
