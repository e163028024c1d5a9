#include "scheduler-plugin/kube/waiting/claim_book.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr const char* kOurClass = "chipweave";
constexpr std::int64_t kMaxDevicesOfClaim = 32;  // of a claim; by the API

bool asks_for_ours(const codec::KubeClaim& claim) {
  return std::any_of(claim.requests.begin(), claim.requests.end(),
                     [](const auto& request) { return is_our_class(request.device_class); });
}

// Positions of the requests that are named; of all if none is.
std::vector<std::size_t> positions(const codec::KubeClaim& claim,
                                   const std::vector<std::string>& names) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < claim.requests.size(); ++i) {
    if (names.empty() ||
        std::find(names.begin(), names.end(), claim.requests[i].name) != names.end())
      out.push_back(i);
  }
  return out;
}

}  // namespace

bool is_our_class(std::string_view device_class) {
  return device_class == kOurClass || device_class.starts_with(std::string(kOurClass) + "-");
}

void ClaimBook::take(const codec::KubeClaim& claim) {
  const std::string key = claim.ns + "/" + claim.name;
  // those that it makes itself when it binds a pod are allocated then
  const bool ours = asks_for_ours(claim) &&
                    !claim.annotations.contains("resource.kubernetes.io/extended-resource-claim");
  if (ours) {
    claims_[key] = claim;
    others_.erase(key);
  } else {
    claims_.erase(key);
    others_.insert(key);
  }
}

void ClaimBook::take(codec::KubeDeviceClass device_class) {
  if (is_our_class(device_class.name)) classes_[device_class.name] = std::move(device_class);
}

const codec::KubeClaim* ClaimBook::find(const std::string& key) const {
  const auto at = claims_.find(key);
  return at == claims_.end() ? nullptr : &at->second;
}

std::string ClaimBook::refusal(const codec::KubeClaim& claim) const {
  const std::string name = "claim " + claim.name;
  if (!claim.problem.empty())
    return name + " asks for " + claim.problem + ", which chipweave does not do";
  std::int64_t devices = 0;
  for (const codec::DeviceRequest& request : claim.requests) {
    const std::string which = "request " + request.name + " of " + name;
    if (!request.problem.empty()) {
      return which + " asks for " + request.problem +
             "; chipweave allocates a number of devices (exactly.count) only";
    }
    if (!is_our_class(request.device_class)) {
      return which + " is of class " + request.device_class +
             ": a claim has requests of chipweave's classes, or of others";
    }
    const auto known = classes_.find(request.device_class);
    if (known == classes_.end()) return which + ": there is no DeviceClass " + request.device_class;
    const auto& selectors = known->second.selectors;
    if (std::find(selectors.begin(), selectors.end(), "false") == selectors.end()) {
      return "DeviceClass " + request.device_class +
             " must have the selector \"false\": kube-scheduler would allocate it, too";
    }
    if (request.count < 1) return which + " asks for no device";
    devices += request.count;
    if (devices > kMaxDevicesOfClaim) return name + " asks for more than 32 devices";
  }
  for (const codec::MatchAttribute& match : claim.match) {
    if (positions(claim, match.requests).empty())
      return name + ": matchAttribute " + match.attribute + " names none of its requests";
  }
  return {};
}

Result<std::string> ClaimBook::resource_of(
    const std::vector<const codec::KubeClaim*>& claims) const {
  std::set<std::string> named;
  for (const codec::KubeClaim* claim : claims) {
    for (const codec::DeviceRequest& request : claim->requests) {
      const auto known = classes_.find(request.device_class);
      if (known == classes_.end()) continue;
      const auto at = known->second.annotations.find(kClassResource);
      if (at != known->second.annotations.end()) named.insert(at->second);
    }
  }
  if (named.size() > 1) {
    return make_error(Errc::conflict, "the claims ask for " + *named.begin() + " and " +
                                          *named.rbegin() + "; chips of a pod are of one kind");
  }
  return named.empty() ? std::string() : *named.begin();
}

WantedClaim ClaimBook::wanted(const codec::KubeClaim& claim) {
  WantedClaim out;
  out.uid = claim.uid;
  out.key = {claim.ns, claim.name};
  for (const codec::DeviceRequest& request : claim.requests)
    out.counts.push_back(static_cast<int>(request.count));
  for (const codec::MatchAttribute& match : claim.match)
    out.equal.push_back({positions(claim, match.requests), match.attribute});
  return out;
}

codec::ClaimAllocation ClaimBook::allocation(
    const codec::KubeClaim& claim, const std::string& node,
    const std::vector<std::vector<int>>& chips,
    const std::function<codec::ClaimedDevice(int)>& device) const {
  codec::ClaimAllocation out;
  out.node = node;
  for (std::size_t i = 0; i < claim.requests.size(); ++i) {
    const codec::DeviceRequest& request = claim.requests[i];
    for (const int chip : chips[i]) out.results.push_back({request.name, device(chip)});
    const auto known = classes_.find(request.device_class);
    if (known != classes_.end())
      out.class_configs.emplace_back(request.name, known->second.configs);
  }
  out.claim_configs = claim.configs;
  return out;
}

std::string node_of(const codec::KubeClaim& claim) {
  if (claim.node_terms.size() != 1) return {};
  const domain::NodeTerm& term = claim.node_terms.front();
  for (const domain::NodeRequirement& one : term.fields) {
    if (one.key == "metadata.name" && one.op == "In" && one.values.size() == 1)
      return one.values.front();
  }
  for (const domain::NodeRequirement& one : term.labels) {
    if (one.key == "kubernetes.io/hostname" && one.op == "In" && one.values.size() == 1)
      return one.values.front();
  }
  return {};
}

}  // namespace chipweave::sched
