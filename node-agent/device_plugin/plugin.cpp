#include "node-agent/device_plugin/plugin.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/socket_served.hpp"
#include "node-agent/device_plugin/core/vendor_devices.hpp"
#include "node-agent/device_plugin/plugin_impl.hpp"

namespace chipweave::device_plugin {
namespace {

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
  out.other_resource = options.other_resource;
  out.list_deadline = options.list_within;
  return out;
}

}  // namespace

Plugin::Impl::Impl(http::Loop& l, PluginOptions o, PluginEvents e, std::shared_ptr<ListShare> s)
    : loop(l),
      options(std::move(o)),
      host(options.device_root),
      events(std::move(e)),
      desk(options.node, options.resource, options.on_mismatch, options.follows_pods),
      client(loop, client_options(options)),
      registration(options.waits),
      share(s != nullptr ? std::move(s) : std::make_shared<ListShare>(options.turn)),
      endpoint(socket_name(options.resource)),
      box(std::make_shared<http::Mailbox<Impl>>(loop, *this)) {
  if (options.other_resource.empty()) return;
  others.emplace(options.node, options.other_resource);
  gate.decided(false);
}

void Plugin::Impl::look() {
  const auto now = Steady::now();
  if (registration.look(socket_at(options.folder + "/kubelet.sock"),
                        socket_at(own_socket()).has_value())) {
    obs::log(obs::Level::info, "the kubelet has started or stopped", {{"folder", options.folder}});
    desk.kubelet_restarted();
    gate.kubelet_lost();
    show_gate();
  }
  if (desk.devices() == nullptr || stopped) return;
  if (!offering() && whose != Whose::theirs) return;  // it is not known what to offer
  switch (registration.due(now)) {
    case Registration::Step::none:
      return;
    case Registration::Step::serve:
      serve();
      return look();
    case Registration::Step::enrol:
      // A kubelet that was killed has left its socket. A registration that waits there reaches the
      // next one when this plugin's socket has just been removed, and both then wait for the other.
      if (rpc::is_socket_served(options.folder + "/kubelet.sock")) enrol();
  }
}

void Plugin::Impl::look_again() {
  look();
  after(options.look_every, &Impl::look_again);
}

void Plugin::Impl::serve() {
  server.reset();  // which ends its calls, and the kubelet's stream
  gate.kubelet_lost();
  show_gate();
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
    allocations.push_back({std::move(containers), std::move(reply), Steady::now()});
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

void Plugin::Impl::enrol() {
  registration.sent();
  ++standing.registrations;
  show_standing();
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

void Plugin::Impl::enrolled() {
  if (!registration.registered()) return;
  obs::log(obs::Level::info, "registered with the kubelet", {{"resource", options.resource}});
  gate.registered();
  if (!options.follows_pods) gate.complete();
  show_gate();
  next();
}

void Plugin::Impl::show_gate() {
  if (std::exchange(shown_open, gate.open()) == gate.open()) return;
  obs::log(obs::Level::info, gate.open() ? "open for pods" : "closed for pods",
           {{"node", options.node}, {"resource", options.resource}});
  if (events.gate) events.gate(gate.open());
}

void Plugin::Impl::take_devices() {
  if (!topology) return;
  auto wiring = machines.get(*topology);
  if (options.vendor_folder.empty()) {
    desk.machine(std::make_shared<const Devices>(*topology, std::move(wiring)));
  } else if (vendor_offers) {
    VendorDevices seen = vendor_devices(*topology, *vendor_offers);
    if (!seen.unknown.empty() && seen.unknown != unknown_devices) {
      obs::log(obs::Level::warn,
               "devices of the vendor's plugin that are no chips of this machine are not offered",
               {{"devices", printable(joined(seen.unknown, ","))}});
    }
    unknown_devices = std::move(seen.unknown);
    desk.machine(std::make_shared<const Devices>(*topology, std::move(wiring), std::move(seen.ids),
                                                 seen.healthy));
  }
  withhold();
  offer();
  look();
}

void Plugin::Impl::withhold() {
  if (!others || desk.devices() == nullptr) return;
  const ChipSet chips = offering() ? held_chips() : desk.devices()->topology().all();
  if (!chips.empty()) desk.machine(desk.devices()->without(chips));
}

void Plugin::Impl::vendor_says(const std::optional<std::vector<OfferedDevice>>& devices) {
  if (devices) vendor_offers = devices;
  standing.vendor_here = devices.has_value();
  gate.vendor(standing.vendor_here);
  take_devices();
  show_standing();
  show_gate();
}

void Plugin::Impl::offer() {
  if (desk.devices() == nullptr) return;
  auto list = offering() ? offered(*desk.devices(), current && standing.vendor_here)
                         : std::vector<OfferedDevice>();
  if (list == sent) return;
  sent = std::move(list);
  if (server) server->offer(sent);
  standing.healthy = static_cast<int>(std::count_if(
      sent.begin(), sent.end(), [](const OfferedDevice& one) { return one.healthy; }));
  standing.unhealthy = static_cast<int>(sent.size()) - standing.healthy;
  show_standing();
}

void Plugin::Impl::pods_are_stale(bool yes) {
  if (std::exchange(standing.pods_stale, yes) == yes) return;
  gate.pods_stale(yes);
  show_standing();
  show_gate();
}

Plugin::Plugin(http::Loop& loop, PluginOptions options, PluginEvents events,
               std::shared_ptr<ListShare> share)
    : impl_(std::make_shared<Impl>(loop, std::move(options), std::move(events), std::move(share))) {
}

Plugin::~Plugin() {
  impl_->stopped = true;
  impl_->watch.reset();
  impl_->box->cut();
  impl_->vendor.reset();
  impl_->server.reset();
}

Result<void> Plugin::start() {
  if (!impl_->options.list_lock.empty() && !impl_->share->lock) {
    auto lists = agent::ListLock::open(impl_->options.list_lock);
    if (!lists) return std::move(lists).error();
    impl_->share->lock = std::move(*lists);
  }
  if (!impl_->options.vendor_folder.empty()) {
    impl_->vendor_says(std::nullopt);
    VendorLink::Options link;
    link.folder = impl_->options.vendor_folder;
    link.resource = impl_->options.resource;
    auto made = VendorLink::start(
        impl_->loop, std::move(link),
        [self = impl_.get()](const std::optional<std::vector<OfferedDevice>>& devices) {
          self->vendor_says(devices);
        });
    if (!made) return std::move(made).error();
    impl_->vendor = std::move(*made);
  }
  impl_->watch = std::make_unique<agent::FileWatch>(
      std::vector{impl_->options.folder + "/kubelet.sock", impl_->own_socket()},
      [box = impl_->box] { box->post([](Impl& self) { self.look(); }); });
  impl_->look_again();
  return {};
}

void Plugin::machine(const domain::NodeTopology& topology) {
  impl_->topology = topology;
  impl_->current = true;
  impl_->take_devices();
  if (impl_->others) impl_->next();
}

void Plugin::machine_unknown() {
  impl_->current = false;
  impl_->offer();
}

void Plugin::offers(bool yes) {
  Impl& self = *impl_;
  const auto now = yes ? Impl::Whose::ours : Impl::Whose::theirs;
  if (std::exchange(self.whose, now) == now) return;
  ++self.era;
  self.held.reset();
  self.gate.decided(!yes);
  self.take_devices();
  self.show_gate();
  self.next();
}

void Plugin::pod_seen(const codec::KubePod& pod) {
  impl_->desk.pod_seen(pod);
  if (impl_->others) impl_->others->take(pod);
  if (!impl_->preferences.empty()) impl_->next();
}

void Plugin::pod_gone(const std::string& key) {
  impl_->desk.pod_gone(key);
  if (impl_->others) impl_->others->drop(key);
}

void Plugin::list_requested() { impl_->desk.list_requested(); }

void Plugin::pods_listed() {
  impl_->pods_known = true;
  impl_->desk.list_shown();
  impl_->want_list();
  impl_->pods_are_stale(false);
  impl_->next();
}

void Plugin::pods_stale() { impl_->pods_are_stale(true); }

void Plugin::close_gate() {
  impl_->gate.close();
  impl_->show_gate();
}

}  // namespace chipweave::device_plugin
