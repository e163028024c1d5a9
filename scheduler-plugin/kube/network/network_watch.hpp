// NetworkWatch — keeps Network up to date with the objects of the cluster that describe it:
// Volcano's HyperNodes, Topology of Kueue and of KAI, ClusterNetworkTopology of Koordinator, and a
// ConfigMap with any file that `chipweave network import` reads. Labels of Nodes and
// NodeInventories come by InventoryWatch.
//
// What cannot be used leaves what was read before in place, and is reported (Network::set_problem).
// The source of an API that the cluster does not have counts as empty; the watch retries now and
// then. Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/kube/reflector.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

struct ConfigMapName {
  std::string ns;
  std::string name;
};

class NetworkWatch {
 public:
  // A description of thousands of nodes takes some 10 ms to read.
  static constexpr std::chrono::seconds kReadEvery{2};

  // config_map: of NetworkSource::configmap. The other sources are those that network uses.
  NetworkWatch(kube::Transport& transport, Network& network,
               const std::optional<ConfigMapName>& config_map,
               std::function<void(const kube::WatchFailure&)> failed,
               const std::function<double()>& jitter);

  void start();
  // Reads what changed. Call it several times a second.
  void tick(Clock::Steady now);

 private:
  // Objects of one source; an API has several versions, of which the first that is there counts.
  struct Kind {
    NetworkSource source = NetworkSource::configmap;
    const char* name = "";
    std::vector<std::string> versions;
    std::vector<std::unique_ptr<kube::Reflector<codec::KubeDocument>>> watches;  // by version
    std::vector<std::map<std::string, std::string>> objects;  // by version and name: as JSON
    std::size_t bytes = 0;
    std::size_t started = 0;  // watches
    bool overflown = false;
    bool missing = false;  // the cluster does not have the API
    bool selects = false;  // its objects select Nodes by pattern or label
    bool changed = false;
    bool synced = false;
    std::uint64_t labels = 0;  // NodeLabels::version() of the last reading
    std::optional<Clock::Steady> read;
  };

  void add(NetworkSource source, const char* kind, const std::vector<std::string>& versions,
           const std::string& path, const std::string& selector = {});
  void seen(Kind& kind, std::size_t version, codec::KubeDocument&& object);
  void gone(Kind& kind, std::size_t version, const std::string& name);
  void synced(Kind& kind);
  void failed(Kind& kind, std::size_t version, const kube::WatchFailure& failure);
  void read(Kind& kind);
  Result<std::string> read_objects(const Kind& kind, const std::map<std::string, std::string>& of);
  Result<void> read_hypernodes(const std::map<std::string, std::string>& objects, bool with_nodes);
  Result<void> read_config_map(const std::string& data);
  std::string nodes_json() const;

  kube::Transport& transport_;
  Network& network_;
  std::function<void(const kube::WatchFailure&)> failed_;
  std::function<double()> jitter_;
  std::vector<std::unique_ptr<Kind>> kinds_;
};

}  // namespace chipweave::sched
