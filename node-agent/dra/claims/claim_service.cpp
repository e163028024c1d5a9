#include "node-agent/dra/claims/claim_service.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/codec/kube/dra/dra_claim.hpp"
#include "common/kube/api_chain.hpp"
#include "common/obs/log.hpp"
#include "node-agent/dra/claims/cdi_spec.hpp"
#include "node-agent/dra/claims/claim_plan.hpp"

namespace chipweave::agent::dra {
namespace {

std::string text_of(const ClaimRef& ref) { return ref.ns + "/" + ref.name; }

Result<void> check(const ClaimRef& ref) {
  if (is_dns_label(ref.ns) && is_dns_subdomain(ref.name) && codec::is_plain_uid(ref.uid)) return {};
  return make_error(Errc::invalid_argument,
                    "namespace, name or uid of the claim is one that no "
                    "object can have: " +
                        in_quotes(text_of(ref)));
}

// Whether it is prepared with exactly the devices of this driver that are allocated for it.
bool has_devices_of(const codec::PreparedClaim& prepared, const codec::DraClaim& claim,
                    const std::string& driver) {
  std::size_t k = 0;
  for (const codec::AllocatedResult& result : claim.results) {
    if (result.driver != driver) continue;
    if (k == prepared.devices.size()) return false;
    const codec::PreparedDevice& device = prepared.devices[k++];
    if (device.request != result.request || device.pool != result.pool ||
        device.device != result.device)
      return false;
  }
  return k == prepared.devices.size();
}

}  // namespace

// The claims of one call, one after the other: the kubelet sends one in nearly all cases.
struct ClaimService::Request {
  std::vector<ClaimRef> claims;
  std::size_t next = 0;
  PreparedAnswer answer;
  std::chrono::steady_clock::time_point began;
  std::optional<std::chrono::steady_clock::time_point> wait_until;
  std::optional<std::chrono::steady_clock::time_point> waits_since;
  std::chrono::steady_clock::duration waited{};  // for what must come first
  std::function<void(PreparedAnswer)> done;
  std::list<std::unique_ptr<kube::Ticket>>::iterator ticket;
};

void ClaimService::prepare(std::vector<ClaimRef> claims, std::function<void(PreparedAnswer)> done) {
  const auto request = std::make_shared<Request>();
  request->claims = std::move(claims);
  request->done = std::move(done);
  request->began = transport_.now();
  request->ticket = tickets_.insert(tickets_.end(), nullptr);
  read_next(request);
}

void ClaimService::read_next(const std::shared_ptr<Request>& request) {
  if (const auto since = std::exchange(request->waits_since, std::nullopt))
    request->waited += transport_.now() - *since;
  while (request->next < request->claims.size()) {
    const ClaimRef& ref = request->claims[request->next];
    if (const auto ok = check(ref); !ok) {
      request->answer.insert_or_assign(ref.uid, ok.error());
      ++request->next;
      continue;
    }
    kube::Call call = kube::call_of(
        "GET", "/apis/resource.k8s.io/v1/namespaces/" + ref.ns + "/resourceclaims/" + ref.name, "");
    call.deadline = options_.read_within;
    *request->ticket = transport_.call(std::move(call), [this, request](Result<kube::Reply> reply) {
      const ClaimRef asked = request->claims[request->next];
      auto [result, may_pass] = prepared(asked, std::move(reply));
      if (may_pass && wait(request, result.error())) return;
      ++request->next;
      if (!result) {
        obs::log(obs::Level::warn, "claim not prepared",
                 {{"claim", text_of(asked)}, {"reason", result.error().text()}});
      } else {
        const auto took =
            std::chrono::ceil<std::chrono::milliseconds>(transport_.now() - request->began);
        const auto waited = std::chrono::floor<std::chrono::milliseconds>(request->waited);
        obs::log(obs::Level::info, "claim prepared",
                 {{"claim", text_of(asked)},
                  {"devices", result->size()},
                  {"ms", static_cast<long long>(took.count())},
                  {"waited_ms", static_cast<long long>(waited.count())}});
      }
      request->answer.insert_or_assign(asked.uid, std::move(result));
      read_next(request);
    });
    return;
  }
  PreparedAnswer answer = std::move(request->answer);
  const auto done = std::move(request->done);
  tickets_.erase(request->ticket);  // which may end the request
  done(std::move(answer));
}

// false: for too long already.
bool ClaimService::wait(const std::shared_ptr<Request>& request, const Error& why) {
  const bool first = !request->wait_until;
  if (first) request->wait_until = transport_.now() + options_.wait_within;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*request->wait_until - transport_.now());
  if (left.count() <= 0) return false;
  if (first) {
    obs::log(obs::Level::info, "claim waits",
             {{"claim", text_of(request->claims[request->next])}, {"reason", why.text()}});
  }
  waiting_.push_back(request);
  request->waits_since = transport_.now();
  *request->ticket = transport_.after(left, [this, request] {
    std::erase(waiting_, request);
    read_next(request);
  });
  return true;
}

// The claims are read again, too: they may be others by now.
void ClaimService::look_again() {
  for (const auto& request : std::exchange(waiting_, {})) read_next(request);
}

void ClaimService::want(NodeStatePtr state) {
  const bool first = std::exchange(state_, std::move(state)) == nullptr;
  if (first) look_again();
}

void ClaimService::set_conflict(std::string why) {
  conflict_ = std::move(why);
  look_again();
}

ClaimService::Outcome ClaimService::prepared(const ClaimRef& ref, Result<kube::Reply> reply) {
  const std::string what = "claim " + text_of(ref);
  if (reply && reply->status == kube::kNotFound)
    return {make_error(Errc::not_found, what + " does not exist")};
  if (!reply || reply->status != kube::kOk) {
    return {make_error(Errc::unavailable,
                       what + " cannot be read from the API server: " + kube::problem_of(reply))};
  }
  auto claim = codec::read_dra_claim(reply->body);
  if (!claim) return {std::move(claim).error().in(what)};
  if (claim->uid != ref.uid) {
    return {make_error(Errc::conflict, what + " has another uid: it was deleted and made again")};
  }
  claim->ns = ref.ns;
  claim->name = ref.name;
  Outcome out = prepare_one(*claim);
  if (!out.devices) out.devices = Error(out.devices.error()).in(what);
  return out;
}

Exposure ClaimService::exposure() const {
  Exposure out = usual_exposure(state_->topology);
  if (!options_.nodes.empty()) out.nodes = options_.nodes;
  out.toolkit_kind = options_.toolkit_kind;
  return out;
}

ClaimService::Outcome ClaimService::prepare_one(const codec::DraClaim& claim) {
  if (state_ == nullptr)
    return {make_error(Errc::unavailable, "the chips of this node are not known yet"), true};
  if (auto ok = store_.load_once(); !ok) return {std::move(ok).error()};
  const codec::PreparedClaim* before = store_.find(claim.uid);
  if (before == nullptr && !conflict_) {
    return {make_error(Errc::unavailable,
                       "it is not known yet whether another driver gives these chips away"),
            true};
  }
  if (before == nullptr && !conflict_->empty()) return {make_error(Errc::conflict, *conflict_)};
  const Exposure exposed = exposure();
  if (exposed.nodes.empty() && exposed.toolkit_kind.empty()) {
    return {
        make_error(Errc::unsupported,
                   "it is not known which device nodes these chips have: set --dra-device-nodes")};
  }
  // A container may be running with a chip that has become unhealthy or lost its nodes since: the
  // kubelet gets the answer that it had.
  Result<codec::PreparedClaim> plan =
      before != nullptr && has_devices_of(*before, claim, options_.driver)
          ? *before
          : plan_claim(claim, {options_.driver, options_.node, *state_, exposed, host_});
  if (!plan) return {std::move(plan).error()};
  if (const auto holder = store_.holder_of(*plan)) return {*holder, true};
  auto stored = store_.prepare(std::move(*plan));
  if (!stored) return {std::move(stored).error()};
  std::vector<GivenDevice> out;
  for (const codec::PreparedDevice& device : (*stored)->devices) {
    GivenDevice given{device.request, device.pool, device.device, device.also};
    given.cdi.push_back(cdi_name(options_.driver, claim.uid, device.device));
    out.push_back(std::move(given));
  }
  return {std::move(out)};
}

EndedAnswer ClaimService::unprepare(const std::vector<ClaimRef>& claims) {
  EndedAnswer out;
  for (const ClaimRef& ref : claims) {
    auto ended = store_.unprepare(ref.uid);
    if (ended) {
      obs::log(obs::Level::info, "claim ended", {{"claim", text_of(ref)}});
    } else {
      obs::log(obs::Level::warn, "claim not ended",
               {{"claim", text_of(ref)}, {"reason", ended.error().text()}});
    }
    out.insert_or_assign(ref.uid, std::move(ended));
  }
  look_again();
  return out;
}

}  // namespace chipweave::agent::dra
