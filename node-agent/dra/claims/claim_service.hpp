// ClaimService — the requests of the kubelet to the node's DRA driver: prepares claims, which it
// reads from the API server first, and ends claims, which works without the API server.
//
// The kubelet asks again for a refused claim only after a minute or more. So what may be over in a
// moment is waited for: a chip whose previous pod is ending, and a machine, or who else
// gives its chips away, that is not known yet.
//
// Loop thread only; no answer comes after its destructor.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/dra/dra_claim.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/dra/claims/claim_store.hpp"
#include "node-agent/dra/claims/exposure.hpp"
#include "node-agent/sources/host_devices.hpp"

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
    // For all claims of a request together.
    std::chrono::milliseconds wait_within{10'000};
  };
  ClaimService(kube::Transport& transport, ClaimStore& store, const HostDevices& host,
               Options options)
      : transport_(transport), store_(store), host_(host), options_(std::move(options)) {}
  ClaimService(const ClaimService&) = delete;
  ClaimService& operator=(const ClaimService&) = delete;

  void want(NodeStatePtr state);
  // Why no new claim may be prepared; empty: it may. Until it is known none is.
  void set_conflict(std::string why);

  void prepare(std::vector<ClaimRef> claims, std::function<void(PreparedAnswer)> done);
  EndedAnswer unprepare(const std::vector<ClaimRef>& claims);

 private:
  struct Request;
  struct Outcome {
    Result<std::vector<GivenDevice>> devices;
    bool may_pass = false;  // an error that may be over in a moment
  };
  void read_next(const std::shared_ptr<Request>& request);
  bool wait(const std::shared_ptr<Request>& request, const Error& why);
  void look_again();
  Outcome prepared(const ClaimRef& ref, Result<kube::Reply> reply);
  Outcome prepare_one(const codec::DraClaim& claim);
  Exposure exposure() const;

  kube::Transport& transport_;
  ClaimStore& store_;
  const HostDevices& host_;
  Options options_;
  NodeStatePtr state_;
  std::optional<std::string> conflict_;  // nullopt: not known yet
  std::list<std::unique_ptr<kube::Ticket>> tickets_;
  std::vector<std::shared_ptr<Request>> waiting_;
};

}  // namespace chipweave::agent::dra
