#include "common/codec/kube/pod/claims_stream.hpp"

#include <utility>

namespace chipweave::codec::json_stream {
namespace {

void read_claims(od::value value, int depth, std::vector<ClaimOfPodSpec>& to) {
  to.clear();
  each_element("spec.resourceClaims", value, [&](od::value one) {
    ClaimOfPodSpec& claim = to.emplace_back();
    each_member("resourceClaims", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "name")) return read_string("name", v, claim.name);
      if (is_key(key, "resourceclaimname")) return read_string("resourceClaimName", v, claim.claim);
      check(v, depth + 2);
    });
  });
}

}  // namespace

bool ClaimsOfPodReader::take_spec(std::string_view key, od::value value, int depth) {
  if (!is_key(key, "resourceclaims")) return false;
  read_claims(value, depth, found_.claims);
  return true;
}

bool ClaimsOfPodReader::take_status(std::string_view key, od::value value, int depth) {
  if (!is_key(key, "resourceclaimstatuses")) return false;
  made_.clear();
  each_element("status.resourceClaimStatuses", value, [&](od::value one) {
    std::string name;
    Made made;
    each_member("resourceClaimStatuses", one, [&](std::string_view inner, od::value v) {
      if (is_key(inner, "name")) return read_string("name", v, name);
      if (is_key(inner, "resourceclaimname"))
        return read_string("resourceClaimName", v, made.claim);
      check(v, depth + 2);
    });
    made_[std::move(name)] = std::move(made);
  });
  return true;
}

std::shared_ptr<const ClaimsOfPod> ClaimsOfPodReader::finish() {
  if (found_.claims.empty()) return nullptr;
  for (ClaimOfPodSpec& claim : found_.claims) {
    const auto made = made_.find(claim.name);
    if (!claim.claim.empty() || made == made_.end()) continue;
    claim.claim = made->second.claim;
    claim.none = claim.claim.empty();
  }
  return std::make_shared<const ClaimsOfPod>(std::move(found_));
}

}  // namespace chipweave::codec::json_stream
