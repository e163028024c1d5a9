#include "scheduler-plugin/kube/kubernetes.hpp"

#include <random>
#include <utility>

#include "common/base/backoff.hpp"
#include "common/kube/api_client.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {
namespace {

KubernetesOptions with_jitter(KubernetesOptions options) {
  if (!options.jitter) options.jitter = Backoff::seeded(std::random_device{}());
  return options;
}

PodEvents::Options events_options(const KubernetesOptions& options) {
  PodEvents::Options events;
  events.instance = "chipweave-scheduler " + options.version;
  return events;
}

}  // namespace

Result<std::unique_ptr<Kubernetes>> Kubernetes::make(http::Loop& loop, const Clock& clock,
                                                     const kube::ApiAccess& access,
                                                     KubernetesOptions options,
                                                     const ResourceTable& resources) {
  const std::string agent = "chipweave-scheduler/" + options.version;
  auto client = kube::ApiClient::make(loop, access, agent);
  if (!client) return std::move(client).error();
  std::unique_ptr<kube::Transport> of_election;
  if (options.election) {
    auto another = kube::ApiClient::make(loop, access, agent + " leader-election");
    if (!another) return std::move(another).error();
    of_election = std::move(*another);
  }
  std::unique_ptr<kube::Transport> of_files;
  if (options.write_hostfiles || options.write_tables.any() ||
      !options.dlrover_namespaces.empty()) {
    auto another = kube::ApiClient::make(loop, access, agent + " files");
    if (!another) return std::move(another).error();
    of_files = std::move(*another);
  }
  return std::make_unique<Kubernetes>(std::move(*client), std::move(of_election), clock,
                                      std::move(options), resources, std::move(of_files));
}

Kubernetes::Kubernetes(std::unique_ptr<kube::Transport> transport,
                       std::unique_ptr<kube::Transport> of_election, const Clock& clock,
                       KubernetesOptions options, const ResourceTable& resources,
                       std::unique_ptr<kube::Transport> of_files)
    : transport_(std::move(transport)),
      of_files_(std::move(of_files)),
      clock_(clock),
      options_(with_jitter(std::move(options))),
      cluster_(*transport_, resources,
               {[this] { update_waiting_for(); },
                [this](const kube::WatchFailure& failure) { watch_failed(failure); }},
               options_.jitter),
      events_(*transport_, clock, events_options(options_)),
      gang_events_(clock, events_options(options_).instance,
                   {[this](const codec::KubeEvent& event) { events_.sender().send(event); },
                    [this](const GangRef& gang) { return owner_of(gang); }}),
      evictions_(*transport_, [this] { return cluster_.fence(); }) {
  if (options_.store_gang_plans) wire_plans();
  if (!options_.election) return;
  election_ = std::make_unique<LeaderElection>(std::move(of_election), clock, *options_.election,
                                               election_events(), options_.jitter);
  cluster_.set_leadership(election_.get());
}

LeaderElection::Events Kubernetes::election_events() {
  return {[this] { return scheduler_->authority().waiting_for().empty(); },
          [this] { requeue_trigger_->requeue_all(); }, [this] { scheduler_->step_down(); }};
}

PlanStore& Kubernetes::plans() {
  if (plans_) return *plans_;
  return no_plans_;
}

void Kubernetes::wire_plans() {
  ConfigMapPlans::Events events;
  events.known = [this] { update_waiting_for(); };
  events.failed = [this](const kube::WatchFailure& failure) { watch_failed(failure); };
  events.unusable = [](const std::string& object, const Error& why) {
    obs::log(obs::Level::warn, "unusable plan of a gang",
             {{"object", object}, {"error", why.text()}});
  };
  plans_ = std::make_unique<ConfigMapPlans>(
      *transport_, options_.lease_namespace, [this] { return cluster_.fence(); }, std::move(events),
      options_.jitter);
}

TokenReviewer& Kubernetes::token_reviewer(TokenReviewer::Options options) {
  if (!reviewer_) reviewer_ = std::make_unique<TokenReviewer>(*transport_, std::move(options));
  return *reviewer_;
}

void Kubernetes::start(Scheduler& scheduler) {
  scheduler_ = &scheduler;
  cluster_.set_listener(&scheduler.reconciler());
  inventories_ = std::make_unique<InventoryWatch>(
      *transport_, InventoryWatch::Options{options_.lease_namespace}, scheduler,
      InventoryWatch::Events{[this] {
                               scheduler_->network().arrived(NetworkSource::inventories);
                               update_waiting_for();
                             },
                             [this](const kube::WatchFailure& failure) { watch_failed(failure); },
                             [this](const std::string& node, const Error& why) {
                               ++unusable_inventories_;
                               obs::log(obs::Level::error, "unusable NodeInventory",
                                        {{"node", node}, {"error", why.text()}});
                             },
                             // which chips claims have, before anyone decides about the node
                             [this] {
                               if (claims_) claims_->check();
                             },
                             [this](const codec::KubeNode& node) {
                               if (dlrover_) dlrover_->set_address(node.name, node.address);
                               scheduler_->network().set_labels(node.name, node.labels,
                                                                node.annotations);
                             },
                             [this](const std::string& node) {
                               if (dlrover_) dlrover_->node_gone(node);
                               scheduler_->network().drop_labels(node);
                             },
                             [this] { scheduler_->network().arrived(NetworkSource::labels); },
                             [this](const kube::WatchFailure& failure) {
                               // the network is then what the other sources know
                               if (failure.status == kube::kForbidden)
                                 scheduler_->network().arrived(NetworkSource::labels);
                             }},
      options_.jitter);
  claims_ = std::make_unique<ClaimWatch>(
      *transport_, scheduler.reconciler(), scheduler.nodes(),
      ClaimWatch::Events{[this] { update_waiting_for(); },
                         [this](const kube::WatchFailure& failure) { watch_failed(failure); },
                         [this](const codec::KubeClaim& claim) {
                           if (waiting_claims_) waiting_claims_->claim_seen(claim);
                         },
                         [this](const std::string& key) {
                           if (waiting_claims_) waiting_claims_->claim_gone(key);
                         }},
      options_.jitter);
  hand_over_check_ =
      std::make_unique<HandOverCheck>(scheduler.nodes(), claims_->devices(), clock_, scheduler);
  claim_certainty_ =
      std::make_unique<ClaimCertainty>(*transport_, scheduler.authority(), *claims_, [this] {
        return waiting_claims_ ? waiting_claims_->begun() : std::vector<codec::KubeClaim>();
      });
  cluster_.set_before_refresh([this](const std::string& node, Done done) {
    if (!claims_->served() || !allocates_devices_of(node)) return done({});
    claim_certainty_->when_certain(cluster_.fence(), std::move(done));
  });
  if (options_.allocate_claims) wire_waiting_claims();
  if (options_.write_hostfiles) wire_hostfiles();
  if (!options_.dlrover_namespaces.empty()) wire_dlrover_topology();
  if (tables_ != nullptr && options_.write_tables.any()) wire_tables();
  wire_pod_watchers();
  if (!options_.gang_kinds.empty()) wire_gang_watch();
  claim_allocator_ = std::make_unique<ClaimAllocator>(*transport_, clock_, scheduler.nodes(),
                                                      *claims_, options_.device_class);
  cluster_.set_claims(claim_allocator_.get());
  leftover_claims_ = std::make_unique<LeftoverClaims>(*claims_, *claim_allocator_, cluster_, clock_,
                                                      scheduler.records());
  lost_claims_ = std::make_unique<LostClaims>(*transport_, *claims_, *claim_allocator_, cluster_,
                                              scheduler.nodes(), clock_, scheduler.records());
  requeue_trigger_ =
      std::make_unique<RequeueTrigger>(*transport_, scheduler, RequeueTrigger::Options{});
  scheduler.authority().set_leadership(election_.get());
  network_watch_ = std::make_unique<NetworkWatch>(
      *transport_, scheduler.network(), options_.network_config_map,
      [this](const kube::WatchFailure& failure) { watch_failed(failure); }, options_.jitter);
  scheduler.network().await(NetworkSource::labels);
  scheduler.network().await(NetworkSource::inventories);
  update_waiting_for();
  inventories_->start();
  cluster_.start();
  claims_->start();
  network_watch_->start();
  if (waiting_claims_) waiting_claims_->start();
  if (gang_watch_) gang_watch_->start();
  if (plans_) plans_->start();
  if (election_) election_->start();
}

void Kubernetes::wire_waiting_claims() {
  WaitingClaims::Events events;
  events.waits = [this](const PodKey& pod, const std::string& uid, const std::string& why) {
    events_.claims_wait(pod, uid, why);
  };
  events.allocated = [this](const PodKey& pod, const std::string& uid, const std::string& what) {
    events_.claims_allocated(pod, uid, what);
  };
  events.failed = [this](const kube::WatchFailure& failure) { watch_failed(failure); };
  waiting_claims_ = std::make_unique<WaitingClaims>(
      *transport_, *scheduler_, *claims_, *claim_certainty_, [this] { return cluster_.fence(); },
      WaitingClaims::Options{options_.allocate_untainted}, std::move(events), options_.jitter);
}

void Kubernetes::wire_hostfiles() {
  GangHostfiles::Ways ways;
  ways.fence = [this] { return cluster_.fence(); };
  ways.owner = [this](const GangRef& gang) { return owner_of(gang); };
  ways.failed = [this](const GangRef& gang, const std::string& why) {
    gang_events_.hostfile_failed(gang, why);
  };
  hostfiles_ = std::make_unique<GangHostfiles>(of_files_ ? *of_files_ : *transport_, clock_,
                                               *scheduler_, std::move(ways));
}

void Kubernetes::wire_dlrover_topology() {
  DlroverTopology::Ways ways;
  ways.fence = [this] { return cluster_.fence(); };
  ways.failed = [](const std::string& why) {
    obs::log(obs::Level::warn, "DLRover's node-topology-config is not written", {{"error", why}});
  };
  dlrover_ = std::make_unique<DlroverTopology>(of_files_ ? *of_files_ : *transport_, clock_,
                                               scheduler_->network(), options_.dlrover_namespaces,
                                               std::move(ways));
}

void Kubernetes::wire_tables() {
  TableConfigMaps::Ways ways;
  ways.fence = [this] { return cluster_.fence(); };
  ways.owner = [this](const GangRef& gang) { return owner_of(gang); };
  ways.found = [this](const std::string& ns, const std::string& job, const std::string& text) {
    tables_->continue_from(ns, job, text);
  };
  ways.found_beside = [this](const std::string& ns, const std::string& job,
                             const RouteFiles& files) { tables_->continue_from(ns, job, files); };
  ways.completed = [this](const GangRef& gang, const std::string& what) {
    gang_events_.rank_table_complete(gang, what);
  };
  ways.failed = [this](const GangRef& gang, const std::string& why) {
    gang_events_.rank_table_failed(gang, why);
  };
  table_maps_ = std::make_unique<TableConfigMaps>(of_files_ ? *of_files_ : *transport_, clock_,
                                                  options_.write_tables, std::move(ways));
  tables_->add(*table_maps_);
}

void Kubernetes::wire_pod_watchers() {
  if (!waiting_claims_ && !hostfiles_ && tables_ == nullptr) return;
  cluster_.set_watchers(
      [this](const codec::KubePod& pod) {
        if (waiting_claims_) waiting_claims_->pod_seen(pod);
        if (hostfiles_) hostfiles_->pod_seen(pod);
        if (tables_ != nullptr) tables_->pod_seen(pod);
      },
      [this](const std::string& key) {
        if (waiting_claims_) waiting_claims_->pod_gone(key);
        if (hostfiles_) hostfiles_->pod_gone(key);
        if (tables_ != nullptr) tables_->pod_gone(key);
      });
}

std::optional<codec::EventObject> Kubernetes::owner_of(const GangRef& gang) const {
  if (!gang_watch_) return std::nullopt;
  return gang_watch_->object_of({gang.ns, gang.framework, gang.name});
}

void Kubernetes::wire_gang_watch() {
  GangWatch::Events events;
  events.changed = [this](const GangKey& gang, std::optional<GangSpec> spec) {
    if (gang_changed_) gang_changed_(gang, std::move(spec));
  };
  events.failed = [this](const kube::WatchFailure& failure) { watch_failed(failure); };
  events.unusable = [](const std::string& object, const Error& why) {
    obs::log(obs::Level::warn, "unusable owner object of a gang",
             {{"object", object}, {"error", why.text()}});
  };
  gang_watch_ = std::make_unique<GangWatch>(*transport_, options_.gang_kinds, std::move(events),
                                            options_.jitter);
}

bool Kubernetes::allocates_devices_of(const std::string& node) const {
  if (waiting_claims_) return true;
  const NodeId id = scheduler_->nodes().find(node);
  return id != kNoNode && scheduler_->nodes().node(id).enforcement == domain::Enforcement::dra;
}

void Kubernetes::update_waiting_for() {
  std::string what;
  if (!cluster_.synced()) {
    what = "waiting for the list of pods";
  } else if (!inventories_->synced()) {
    what = "waiting for the list of NodeInventories";
  } else if (!claims_->known()) {
    what = "waiting for the lists of ResourceClaims and ResourceSlices";
  } else if (plans_ && !plans_->known()) {
    what = "waiting for the list of gang plans";
  }
  if (!what.empty()) what = "chipweave-scheduler is starting: " + what;
  if (what == scheduler_->authority().waiting_for()) return;
  if (what.empty()) {
    claims_->check();
    obs::log(obs::Level::info, "synced with the cluster",
             {{"pods", cluster_.size()}, {"nodes", scheduler_->nodes().size()}});
  }
  scheduler_->authority().set_waiting_for(std::move(what));
}

void Kubernetes::watch_failed(const kube::WatchFailure& failure) {
  ++watch_failures_;
  obs::log(obs::Level::warn, "watch of the API server failed", {{"problem", failure.what}});
}

void Kubernetes::tick() {
  if (election_) election_->tick();
  network_watch_->tick(clock_.now());
  claims_->check();
  hand_over_check_->check(claims_->slices_known());
  const Authority& authority = scheduler_->authority();
  const bool leads = authority.cannot_decide().empty();
  if (hostfiles_) hostfiles_->tick(leads);
  const std::optional<std::uint64_t> term = leads ? std::optional(authority.term()) : std::nullopt;
  if (dlrover_) dlrover_->tick(term);
  if (table_maps_ && table_maps_->tick(term)) tables_->tell(*table_maps_);
  if (!leads) return;
  requeue_trigger_->check();
  leftover_claims_->check(cluster_.fence());
  lost_claims_->check(cluster_.fence());
  if (waiting_claims_) waiting_claims_->tick();
  if (plans_) {
    plans_->sweep(
        [this](const std::string& gang) { return scheduler_->gangs().find(gang) != nullptr; },
        clock_.now());
  }
}

void Kubernetes::stop(std::function<void()> done) {
  if (!election_) return done();
  // With a binding in flight the Lease is kept, so that the next leader waits until it expires.
  election_->stop(scheduler_->records().in_flight() == 0, std::move(done));
}

Kubernetes::Stats Kubernetes::stats() const {
  Stats stats;
  stats.events_sent = events_.stats().sent;
  stats.events_refused = events_.stats().refused;
  stats.events_dropped = events_.stats().dropped;
  stats.requeue_triggers = requeue_trigger_ ? requeue_trigger_->touched() : 0;
  stats.watch_failures = watch_failures_;
  stats.unusable_inventories = unusable_inventories_;
  if (leftover_claims_) stats.leftover_claims = leftover_claims_->ended();
  if (lost_claims_) stats.lost_claims = lost_claims_->made_again();
  if (waiting_claims_) stats.waiting_claims = waiting_claims_->stats();
  if (reviewer_) stats.token_reviews = reviewer_->stats();
  if (election_) stats.leader = election_->stats();
  return stats;
}

}  // namespace chipweave::sched
