#include "scheduler-plugin/kube/ranktables/table_config_maps.hpp"

#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/mindcluster/pod/job_table.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/io/gzip.hpp"

namespace chipweave::sched {
namespace {

namespace mindcluster = codec::mindcluster;

constexpr const char* kJobStartPrefix = "ranktable-";
constexpr const char* kTorPrefix = "torlist-";
constexpr const char* kMindiePrefix = "global-ranktable-";
constexpr const char* kGlobalKey = "global_ranktable.json";
constexpr const char* kPdMapPrefix = "pd-ranktable-";
constexpr const char* kVllmKey = "ranktable.json";
constexpr const char* kLocalPrefix = "local_ranktable_";
constexpr std::size_t kMaxUnpacked = 2U << 20U;

// A table as it is stored: base64 of gzip.
std::string packed(const std::string& text) {
  const Result<std::string> bytes = io::gzip(text);
  return bytes ? codec::encode_base64(*bytes) : std::string();  // it fails for lack of memory only
}

std::string unpacked(const std::string& stored) {
  const Result<std::string> bytes = codec::decode_base64(stored);
  if (!bytes || !io::is_gzip(*bytes)) return stored;
  return io::gunzip(*bytes, kMaxUnpacked).value_or("");
}

// Nothing is in it, or what says that a table follows: users make such ConfigMaps beforehand.
bool is_initial(const codec::StringMap& data, const std::string& key) {
  const auto text = data.find(key);
  if (text == data.end() || text->second.empty()) return true;
  const auto status = mindcluster::status_of_table(unpacked(text->second));
  return status && *status == mindcluster::kInitialStatus;
}

}  // namespace

void TableConfigMaps::job_table(const PublishedTable& table) {
  if (table.kind == TableKind::hccl) {
    if (which_.jobs)
      put({mindcluster::kJobTablePrefix + table.name, mindcluster::kJobTableKey, table.text},
          table);
    return;
  }
  if (!which_.modelarts) return;
  put({kJobStartPrefix + table.name, std::string(codec::kJobStartFile), table.text}, table);
  if (table.route) put_switches(table);
}

void TableConfigMaps::put_switches(const PublishedTable& table) {
  Content content;
  content.name = kTorPrefix + table.name;
  content.key = codec::kTorFile;
  content.text = packed(table.route->tors);
  content.more.emplace(codec::kRoutePlanFile, table.route->plan);
  content.main = false;
  put(std::move(content), table);
}

void TableConfigMaps::job_table_gone(const std::string& ns, const std::string& job) {
  if (which_.jobs)
    forget({mindcluster::kJobTablePrefix + job, mindcluster::kJobTableKey, kInitializing}, ns);
  if (!which_.modelarts) return;
  forget({kJobStartPrefix + job, std::string(codec::kJobStartFile), kInitializing}, ns);
  Content tors{kTorPrefix + job, std::string(codec::kTorFile), packed(kInitializing)};
  tors.more.emplace(codec::kRoutePlanFile, "");
  tors.main = false;
  forget(std::move(tors), ns);
}

void TableConfigMaps::deployment_table(const PublishedTable& table) {
  if (table.kind == TableKind::mindie) {
    if (which_.mindie) put({kMindiePrefix + table.name, kGlobalKey, table.text}, table);
    return;
  }
  if (!which_.pd || !table.pd) return;
  Content content{kPdMapPrefix + table.name, table.pd->vllm ? kVllmKey : kGlobalKey,
                  table.text.empty() ? kInitializing : table.text};
  for (const auto& [pod, text] : table.pd->locals)
    content.more.emplace(kLocalPrefix + pod + ".json", text);
  put(std::move(content), table);
}

void TableConfigMaps::deployment_table_gone(TableKind kind, const std::string& ns,
                                            const std::string& name) {
  if (kind == TableKind::mindie)
    return forget({kMindiePrefix + name, kGlobalKey, kInitializing}, ns);
  const auto known = maps_.find(ns + "/" + kPdMapPrefix + name);
  if (known == maps_.end()) return;  // its keys are those of its pods
  Content content = known->second.content;
  content.text = kInitializing;
  for (auto& [key, text] : content.more) text.clear();
  forget(std::move(content), ns);
}

bool TableConfigMaps::tick(std::optional<std::uint64_t> term) {
  const bool begins = term && term != term_;
  if (term != term_) {
    Maps before = std::exchange(maps_, {});
    term_.reset();
    for (auto& [id, map] : before) {
      if (map.gone && map.keeper != nullptr) forget(std::move(map.content), map.table.ns);
    }
  }
  term_ = term;
  const auto now = clock_.now();
  if (term_) {
    for (auto& [id, one] : std::exchange(ended_, {})) {
      if (now - one.since < kEnded) forget(std::move(one.content), one.ns);
    }
  }
  std::erase_if(
      maps_, [&](const auto& one) { return one.second.gone && now - *one.second.gone >= kForget; });
  return begins;
}

void TableConfigMaps::put(Content content, const PublishedTable& table) {
  const std::string id = table.ns + "/" + content.name;
  if (!term_) {
    ended_.erase(id);
    return;
  }
  auto at = maps_.find(id);
  if (at == maps_.end()) {
    if (maps_.size() >= kMaxTables)
      return ways_.failed(table.about, "There is no rank table: more than " +
                                           std::to_string(kMaxTables) + " jobs have one");
    at = maps_.try_emplace(id).first;
  }
  Map& map = at->second;
  map.table = table;
  map.table.text.clear();
  map.table.route.reset();
  map.table.pd.reset();
  map.content = std::move(content);
  map.gone.reset();
  if (!is_dns_subdomain(map.content.name))
    return report(map, "There is no rank table: " + in_quotes(map.content.name) +
                           " is not a valid name of a ConfigMap");
  if (!map.content.main || table.problem.empty()) {
    map.problem.clear();
  } else {
    report(map, "The rank table is not complete: " + table.problem);
  }
  if (map.content.text.empty()) return;
  const bool fresh = map.keeper == nullptr;
  if (fresh) map.keeper = keeper_of(id, table.ns, map.content.name);
  want(map, true);
  if (fresh) map.keeper->start();
}

void TableConfigMaps::want(Map& map, bool create) {
  kube::ConfigMapKeeper::Wanted wanted;
  wanted.create = create;
  wanted.labels = {map.table.consumer.begin(), map.table.consumer.end()};
  if (map.table.kind != TableKind::modelarts) wanted.labels["mx-consumer-cim"] = "true";
  wanted.data = [key = map.content.key, text = map.content.text,
                 more = map.content.more](std::int64_t stamp) {
    codec::StringMap out = more;
    out[key] = text;
    out[mindcluster::kTableVersionKey] = std::to_string(stamp);
    return out;
  };
  const GangRef& about = map.table.about;
  const auto owner = ways_.owner(about);
  wanted.owners = {
      owner ? codec::ObjectOwner{owner->api_version, owner->kind, owner->name, owner->uid}
            : codec::ObjectOwner{"v1", "Pod", about.pod.name, about.uid}};
  map.keeper->want(std::move(wanted));
}

// Pods of a job that is made again under its name must not read where those before them ran. A
// ConfigMap that a user made stays when the job goes, and this replica may not have written it.
void TableConfigMaps::forget(Content content, const std::string& ns) {
  const std::string id = ns + "/" + content.name;
  if (!term_) {
    const auto now = clock_.now();
    if (ended_.size() >= kMaxEnded)
      std::erase_if(ended_, [&](const auto& one) { return now - one.second.since >= kEnded; });
    if (ended_.size() < kMaxEnded) ended_.insert_or_assign(id, Ended{ns, std::move(content), now});
    return;
  }
  const bool room = maps_.contains(id) || maps_.size() < kMaxTables;
  if (!room || !is_dns_subdomain(content.name)) return;
  Map& map = maps_[id];
  map.gone = clock_.now();
  map.content = std::move(content);
  map.table.ns = ns;
  map.table.complete = false;
  const bool fresh = map.keeper == nullptr;
  if (fresh) map.keeper = keeper_of(id, ns, map.content.name);
  want(map, false);
  if (fresh) map.keeper->start();
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
  const Content& content = maps_.find(id)->second.content;
  options.shared = {
      kRankTableContentLabel, mindcluster::kTableVersionKey,
      [key = content.key](const codec::StringMap& data) { return is_initial(data, key); }};
  kube::ConfigMapKeeper::Events events{nullptr, [](bool /*works*/) {}};
  events.refused = [this, id](const std::string& why) {
    const auto map = maps_.find(id);
    if (map != maps_.end()) report(map->second, "The rank table is not written: " + why);
  };
  events.written = [this, id](const codec::StringMap& data) { written(id, data); };
  events.found = [this, id](const codec::StringMap& data) { found(id, data); };
  return std::make_unique<kube::ConfigMapKeeper>(transport_, clock_, std::move(options),
                                                 std::move(events));
}

void TableConfigMaps::written(const std::string& id, const codec::StringMap& data) {
  const auto at = maps_.find(id);
  if (at == maps_.end() || !at->second.table.complete || !at->second.content.main) return;
  const Map& map = at->second;
  const auto text = data.find(map.content.key);
  if (text != data.end() && text->second == map.content.text)
    ways_.completed(map.table.about, "The rank table is complete: ConfigMap " + id);
}

void TableConfigMaps::found(const std::string& id, const codec::StringMap& data) {
  const auto at = maps_.find(id);
  if (at == maps_.end() || !is_of_job(at->second.table.kind) || at->second.gone) return;
  const Map& map = at->second;
  const auto text = data.find(map.content.key);
  if (text == data.end()) return;
  const std::string ns = map.table.ns;  // the call changes the map
  const std::string name = map.table.name;
  if (map.content.main) return ways_.found(ns, name, text->second);
  const auto plan = data.find(std::string(codec::kRoutePlanFile));
  if (plan != data.end()) ways_.found_beside(ns, name, {unpacked(text->second), plan->second});
}

void TableConfigMaps::report(Map& map, const std::string& problem) {
  if (map.gone) return;  // no pod waits for it
  if (std::exchange(map.problem, problem) != problem) ways_.failed(map.table.about, problem);
}

}  // namespace chipweave::sched
