// FakeApi — an API server in a process of its own, so that its memory does not count: it makes the
// objects of a large cluster as it sends them, streams lists like Kubernetes 1.36, and sends storms
// of watch events on request.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace chipweave::bench {

// Bound pods ask for one chip. The first `wide` nodes have 16 chips and 16 pods each; the other
// pods are spread over the other nodes, of 8 chips each. Pending pods ask for 8
// chips or, every other one, for one.
struct FakeCluster {
  int nodes = 0;
  int wide = 0;
  int bound = 0;
  int pending = 0;
  std::string wide_topology;  // JSON
  std::string topology;

  int wide_pods() const { return wide * 16; }
  int node_of(int pod) const;
  int chip_of(int pod) const;
};
std::string node_name(int node);
std::string pod_uid(int pod);
// A Pod object; node < 0: it waits.
std::string pod_object(const FakeCluster& cluster, int pod, std::string_view version);

class FakeApi {
 public:
  // Forks: call it before the first thread starts.
  explicit FakeApi(const FakeCluster& cluster);
  ~FakeApi();
  FakeApi(const FakeApi&) = delete;
  FakeApi& operator=(const FakeApi&) = delete;

  std::uint16_t port() const { return port_; }
  // Returns when `count` events of that storm are written. See run_storm() in the source.
  void storm(std::string_view name, int count);
  // Between two renewals of the leader's Lease, as they arrived here.
  double longest_lease_gap_ms();

 private:
  pid_t child_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace chipweave::bench
