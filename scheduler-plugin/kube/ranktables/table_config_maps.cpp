#include "scheduler-plugin/kube/ranktables/table_config_maps.hpp"

#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/codec/mindcluster/pod/job_table.hpp"

namespace chipweave::sched {
namespace {

namespace mindcluster = codec::mindcluster;

constexpr const char* kDeploymentPrefix = "global-ranktable-";
constexpr const char* kDeploymentKey = "global_ranktable.json";

// Nothing is in it, or what says that a table follows: users make such ConfigMaps beforehand.
bool is_initial(const codec::StringMap& data, const char* key) {
  const auto text = data.find(key);
  if (text == data.end() || text->second.empty()) return true;
  const auto status = mindcluster::status_of_table(text->second);
  return status && *status == mindcluster::kInitialStatus;
}

}  // namespace

void TableConfigMaps::job_table(const PublishedTable& table) {
  if (which_.jobs) put(mindcluster::kJobTablePrefix + table.name, mindcluster::kJobTableKey, table);
}

void TableConfigMaps::job_table_gone(const std::string& ns, const std::string& job) {
  forget(mindcluster::kJobTablePrefix + job, ns);
}

void TableConfigMaps::deployment_table(const PublishedTable& table) {
  if (which_.deployments) put(kDeploymentPrefix + table.name, kDeploymentKey, table);
}

void TableConfigMaps::deployment_table_gone(const std::string& ns, const std::string& id) {
  forget(kDeploymentPrefix + id, ns);
}

bool TableConfigMaps::tick(std::optional<std::uint64_t> term) {
  const bool begins = term && term != term_;
  if (term != term_) maps_.clear();
  term_ = term;
  const auto now = clock_.now();
  std::erase_if(
      maps_, [&](const auto& one) { return one.second.gone && now - *one.second.gone >= kForget; });
  return begins;
}

void TableConfigMaps::put(const std::string& name, const char* key, const PublishedTable& table) {
  if (!term_) return;
  const std::string id = table.ns + "/" + name;
  auto at = maps_.find(id);
  if (at == maps_.end()) {
    if (maps_.size() >= kMaxTables)
      return ways_.failed(table.about, "There is no rank table: more than " +
                                           std::to_string(kMaxTables) + " jobs have one");
    at = maps_.try_emplace(id).first;
  }
  Map& map = at->second;
  map.table = table;
  map.key = key;
  map.gone.reset();
  if (!is_dns_subdomain(name))
    return report(map, "There is no rank table: " + in_quotes(name) + " is no name of a ConfigMap");
  if (!table.problem.empty()) {
    report(map, "The rank table is not complete: " + table.problem);
  } else {
    map.problem.clear();
  }
  if (table.text.empty()) return;
  const bool fresh = map.keeper == nullptr;
  if (fresh) map.keeper = keeper_of(id, table.ns, name);
  want(map, true);
  if (fresh) map.keeper->start();
}

void TableConfigMaps::want(Map& map, bool create) {
  kube::ConfigMapKeeper::Wanted wanted;
  wanted.create = create;
  for (const auto& [label, value] : map.table.consumer) wanted.labels[label] = value;
  wanted.labels["mx-consumer-cim"] = "true";
  wanted.data = [key = map.key, text = map.table.text](std::int64_t stamp) {
    return codec::StringMap{{key, text}, {mindcluster::kTableVersionKey, std::to_string(stamp)}};
  };
  const GangRef& about = map.table.about;
  const auto owner = ways_.owner(about);
  wanted.owners = {
      owner ? codec::ObjectOwner{owner->api_version, owner->kind, owner->name, owner->uid}
            : codec::ObjectOwner{"v1", "Pod", about.pod.name, about.uid}};
  map.keeper->want(std::move(wanted));
}

// Pods of a job that is made again under its name must not read where those before them ran.
void TableConfigMaps::forget(const std::string& name, const std::string& ns) {
  const auto at = maps_.find(ns + "/" + name);
  if (at == maps_.end()) return;
  Map& map = at->second;
  if (map.keeper == nullptr) {
    maps_.erase(at);
    return;
  }
  map.gone = clock_.now();
  map.table.text = kInitializing;
  map.table.complete = false;
  want(map, false);
}

std::unique_ptr<kube::ConfigMapKeeper> TableConfigMaps::keeper_of(const std::string& id,
                                                                  const std::string& ns,
                                                                  const std::string& name) {
  kube::ConfigMapKeeper::Options options;
  options.ns = ns;
  options.name = name;
  options.read_by_patch = true;
  options.check_every = kCheckEvery;
  options.may_send = ways_.fence();
  options.chain.what = "rank table " + id;
  options.chain.seed = ++made_;
  const std::string& key = maps_.find(id)->second.key;
  options.shared = {kRankTableContentLabel, mindcluster::kTableVersionKey,
                    [key](const codec::StringMap& data) { return is_initial(data, key.c_str()); }};
  kube::ConfigMapKeeper::Events events{nullptr, [](bool /*works*/) {}};
  events.refused = [this, id](const std::string& why) {
    const auto map = maps_.find(id);
    if (map != maps_.end()) report(map->second, "The rank table is not written: " + why);
  };
  events.written = [this, id](const codec::StringMap& data) {
    const auto at = maps_.find(id);
    if (at == maps_.end() || !at->second.table.complete) return;
    const Map& map = at->second;
    if (const auto text = data.find(map.key); text != data.end() && text->second == map.table.text)
      ways_.completed(map.table.about, "The rank table is complete: ConfigMap " + id);
  };
  return std::make_unique<kube::ConfigMapKeeper>(transport_, clock_, std::move(options),
                                                 std::move(events));
}

void TableConfigMaps::report(Map& map, const std::string& problem) {
  if (std::exchange(map.problem, problem) != problem) ways_.failed(map.table.about, problem);
}

}  // namespace chipweave::sched
