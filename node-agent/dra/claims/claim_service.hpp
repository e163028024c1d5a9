// ClaimService — the requests of the kubelet to the node's DRA driver: prepares claims, which it
// reads from the API server first, and ends claims, which works without the API server.
//
// Loop thread only; no answer comes after its destructor.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/dra/dra_claim.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/dra/claims/claim_store.hpp"
#include "node-agent/dra/claims/exposure.hpp"
#include "node-agent/dra/host_devices.hpp"

namespace chipweave::agent::dra {

struct ClaimRef {
  std::string ns;
  std::string name;
  std::string uid;
};

// Of one request of the kubelet; it names a pod's claims.
inline constexpr std::size_t kMaxClaimRefs = 1024;

struct GivenDevice {
  std::string request;
  std::string pool;
  std::string device;
  std::vector<std::string> cdi;  // names for the container runtime
};

// By uid; for each claim of the request.
using PreparedAnswer = std::map<std::string, Result<std::vector<GivenDevice>>>;
using EndedAnswer = std::map<std::string, Result<void>>;

class ClaimService {
 public:
  struct Options {
    std::string driver;
    std::string node;             // also the pool
    std::vector<NodeRule> nodes;  // empty: what is usual for the vendor
    std::string toolkit_kind;
    // For one claim. The kubelet gives up after 45 s.
    std::chrono::milliseconds read_within{5'000};
  };
  ClaimService(kube::Transport& transport, ClaimStore& store, const HostDevices& host,
               Options options)
      : transport_(transport), store_(store), host_(host), options_(std::move(options)) {}
  ClaimService(const ClaimService&) = delete;
  ClaimService& operator=(const ClaimService&) = delete;

  void want(NodeStatePtr state) { state_ = std::move(state); }
  // Why no new claim may be prepared; empty: it may.
  void set_conflict(std::string why) { conflict_ = std::move(why); }

  void prepare(std::vector<ClaimRef> claims, std::function<void(PreparedAnswer)> done);
  EndedAnswer unprepare(const std::vector<ClaimRef>& claims);

 private:
  struct Request;
  void read_next(const std::shared_ptr<Request>& request);
  Result<std::vector<GivenDevice>> prepared(const ClaimRef& ref, Result<kube::Reply> reply);
  Result<std::vector<GivenDevice>> prepare_one(const codec::DraClaim& claim);
  Exposure exposure() const;

  kube::Transport& transport_;
  ClaimStore& store_;
  const HostDevices& host_;
  Options options_;
  NodeStatePtr state_;
  std::string conflict_;
  std::list<std::unique_ptr<kube::Ticket>> tickets_;
};

}  // namespace chipweave::agent::dra
