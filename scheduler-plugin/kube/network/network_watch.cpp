#include "scheduler-plugin/kube/network/network_watch.hpp"

#include <algorithm>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/import.hpp"
#include "common/codec/network/kubernetes/topology_levels.hpp"

namespace chipweave::sched {
namespace {

using Objects = std::map<std::string, std::string>;

constexpr const char* kConfigMapKey = "network";

std::string object_json(const char* kind, const codec::KubeDocument& object) {
  JsonWriter w;
  w.begin_object().field("kind", kind);
  w.key("metadata").begin_object().field("name", object.name).end_object();
  w.key("spec").raw(object.spec.empty() ? "{}" : object.spec);
  return w.end_object().take();
}

// HyperNodes that select by patterns or labels: then their members change with the Nodes.
bool select_nodes(const Objects& hypernodes) {
  return std::any_of(hypernodes.begin(), hypernodes.end(), [](const auto& object) {
    return object.second.find("\"regexMatch\"") != std::string::npos ||
           object.second.find("\"labelMatch\"") != std::string::npos;
  });
}

Error unusable(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

}  // namespace

NetworkWatch::NetworkWatch(kube::Transport& transport, Network& network,
                           const std::optional<ConfigMapName>& config_map,
                           std::function<void(const kube::WatchFailure&)> failed,
                           const std::function<double()>& jitter)
    : transport_(transport), network_(network), failed_(std::move(failed)), jitter_(jitter) {
  if (network.uses(NetworkSource::hypernodes))
    add(NetworkSource::hypernodes, "HyperNode", {"/apis/topology.volcano.sh/v1alpha1"},
        "/hypernodes");
  if (network.uses(NetworkSource::kueue))
    add(NetworkSource::kueue, "Topology",
        {"/apis/kueue.x-k8s.io/v1beta2", "/apis/kueue.x-k8s.io/v1beta1"}, "/topologies");
  if (network.uses(NetworkSource::kai))
    add(NetworkSource::kai, "Topology", {"/apis/kai.scheduler/v1alpha1"}, "/topologies");
  if (network.uses(NetworkSource::koordinator))
    add(NetworkSource::koordinator, "ClusterNetworkTopology",
        {"/apis/scheduling.koordinator.sh/v1alpha1"}, "/clusternetworktopologies");
  if (network.uses(NetworkSource::configmap) && config_map)
    add(NetworkSource::configmap, "ConfigMap", {"/api/v1/namespaces/" + config_map->ns},
        "/configmaps", "fieldSelector=metadata.name%3D" + config_map->name);
}

void NetworkWatch::add(NetworkSource source, const char* kind,
                       const std::vector<std::string>& versions, const std::string& path,
                       const std::string& selector) {
  Kind& made = *kinds_.emplace_back(std::make_unique<Kind>());
  made.source = source;
  made.name = kind;
  made.versions = versions;
  made.objects.resize(versions.size());
  for (std::size_t version = 0; version < versions.size(); ++version) {
    kube::Reflector<codec::KubeDocument>::Options options;
    options.path = versions[version] + path;
    options.selector = selector;
    made.watches.push_back(std::make_unique<kube::Reflector<codec::KubeDocument>>(
        transport_, std::move(options),
        kube::Reflector<codec::KubeDocument>::Events{
            {[this, &made, version](codec::KubeDocument&& object) {
               seen(made, version, std::move(object));
             },
             [this, &made, version](const std::string& name) { gone(made, version, name); }},
            [this, &made] { synced(made); },
            [this, &made, version](const kube::WatchFailure& failure) {
              this->failed(made, version, failure);
            }},
        jitter_));
  }
  network_.await(source);
}

void NetworkWatch::start() {
  for (const auto& kind : kinds_) {
    kind->started = 1;
    kind->watches.front()->start();
  }
}

void NetworkWatch::seen(Kind& kind, std::size_t version, codec::KubeDocument&& object) {
  gone(kind, version, object.name);
  kind.missing = false;
  std::string text = kind.source == NetworkSource::configmap ? std::move(object.data)
                                                             : object_json(kind.name, object);
  if (kind.bytes + text.size() > limits::kMaxNetworkFileBytes) {
    kind.overflown = true;
    return;
  }
  kind.bytes += text.size();
  kind.objects[version][std::move(object.name)] = std::move(text);
}

void NetworkWatch::gone(Kind& kind, std::size_t version, const std::string& name) {
  kind.changed = true;
  const auto at = kind.objects[version].find(name);
  if (at == kind.objects[version].end()) return;
  kind.bytes -= at->second.size();
  kind.objects[version].erase(at);
}

void NetworkWatch::synced(Kind& kind) {
  kind.missing = false;
  if (std::exchange(kind.synced, true)) return;
  read(kind);
  network_.arrived(kind.source);
}

// 404: the CRD is not installed, or not in this version.
void NetworkWatch::failed(Kind& kind, std::size_t version, const kube::WatchFailure& failure) {
  if (failure.status != kube::kNotFound) {
    if (failure.status == kube::kForbidden) {
      network_.set_problem(kind.source, failure.what);
      network_.arrived(kind.source);
    }
    return failed_(failure);
  }
  for (const auto& [name, text] : kind.objects[version]) kind.bytes -= text.size();
  kind.objects[version].clear();
  if (kind.started == version + 1 && kind.started < kind.watches.size())
    return kind.watches[kind.started++]->start();
  if (version + 1 < kind.watches.size()) return;
  kind.missing = kind.changed = true;
  network_.arrived(kind.source);
}

void NetworkWatch::tick(Clock::Steady now) {
  for (const auto& kind : kinds_) {
    const bool nodes_changed = kind->selects && kind->labels != network_.labels().version();
    if (!kind->changed && !nodes_changed) continue;
    if (kind->read && now - *kind->read < kReadEvery) continue;
    kind->read = now;
    read(*kind);
  }
}

void NetworkWatch::read(Kind& kind) {
  kind.changed = false;
  kind.labels = network_.labels().version();
  kind.selects = kind.source == NetworkSource::hypernodes && select_nodes(kind.objects.front());
  const auto served = std::find_if(kind.objects.begin(), kind.objects.end(),
                                   [](const Objects& objects) { return !objects.empty(); });
  const Result<std::string> note =
      read_objects(kind, served == kind.objects.end() ? Objects{} : *served);
  std::string problem = note ? *note : note.error().text();
  if (kind.missing && problem.empty()) problem = "the cluster has no API " + kind.versions.front();
  if (std::exchange(kind.overflown, false)) {
    problem = "more than " + std::to_string(limits::kMaxNetworkFileBytes >> 20U) +
              " MiB of objects; the others are not read";
  }
  network_.set_problem(kind.source, std::move(problem));
}

// A remark on objects that are used; empty: none.
Result<std::string> NetworkWatch::read_objects(const Kind& kind, const Objects& of) {
  if (kind.source == NetworkSource::hypernodes) {
    auto read = read_hypernodes(of, kind.selects);
    if (!read) return std::move(read).error();
    return std::string();
  }
  if (kind.source == NetworkSource::configmap) {
    if (of.empty()) {
      network_.set_table(kind.source, {});
      return std::string("there is no such ConfigMap");
    }
    auto read = read_config_map(of.begin()->second);
    if (!read) return std::move(read).error();
    return std::string();
  }
  if (of.empty()) {
    network_.name_levels(kind.source, {});
    return std::string();
  }
  auto levels = codec::read_topology_levels(of.begin()->second);
  if (!levels) return std::move(levels).error();
  network_.name_levels(kind.source, *std::move(levels));
  if (of.size() == 1) return std::string();
  return std::to_string(of.size()) + " objects of kind " + kind.name + "; " + of.begin()->first +
         " is used";
}

std::string NetworkWatch::nodes_json() const {
  std::vector<std::string> names;
  network_.labels().each([&](const std::string& node) { names.push_back(node); });
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) {
    JsonWriter w;
    w.begin_object().field("kind", "Node").key("metadata").begin_object().field("name", name);
    w.key("labels").string_map(network_.labels().all_of(name));
    out += ',' + w.end_object().end_object().take();
  }
  return out;
}

Result<void> NetworkWatch::read_hypernodes(const Objects& objects, bool with_nodes) {
  if (objects.empty()) {
    network_.set_table(NetworkSource::hypernodes, {});
    return {};
  }
  std::string text = R"({"kind":"List","items":[)";
  bool first = true;
  for (const auto& [name, object] : objects) {
    if (!std::exchange(first, false)) text += ',';
    text += object;
  }
  if (with_nodes) text += nodes_json();
  text += "]}";
  auto imported = codec::import_network(text, {"hypernode", {}});
  if (!imported) return std::move(imported).error();
  // Labels are a source of their own.
  imported->table.accelerator_levels.clear();
  for (domain::NetworkNode& node : imported->table.nodes) node.accelerator.clear();
  network_.set_table(NetworkSource::hypernodes, std::move(imported->table));
  return {};
}

Result<void> NetworkWatch::read_config_map(const std::string& data) {
  const auto document = codec::parse_json(data, {limits::kMaxKubeObjectBytes, 1000});
  if (!document) return document.error();
  const codec::JsonValue keys(*document);
  codec::JsonValue text = keys[kConfigMapKey];
  if (!text && keys.size() == 1) text = *keys.begin();
  if (!text.is_string())
    return unusable("the ConfigMap must have the key `network`, or one key alone");
  auto imported = codec::import_network(text.text());
  if (!imported) return std::move(imported).error();
  network_.set_table(NetworkSource::configmap, std::move(imported->table));
  return {};
}

}  // namespace chipweave::sched
