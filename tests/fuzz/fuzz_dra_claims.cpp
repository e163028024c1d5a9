// Arbitrary bytes → the ResourceClaim that the DRA driver reads, its checkpoint, and the slices and
// the Node that it compares with: no crash, what is accepted is within its limits, and a checkpoint
// that is accepted reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/codec/kube/dra/dra_claim.hpp"
#include "common/codec/kube/dra/prepared_claims.hpp"
#include "common/codec/kube/dra/resource_slice.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  std::string body = text;
  const auto claim = read_dra_claim(body);
  require_words(claim);
  if (claim) require(claim->results.size() <= kMaxClaimDevices && !claim->uid.empty());
  const auto prepared = read_prepared_claims(text);
  require_words(prepared);
  if (prepared) {
    for (const auto& [uid, each] : prepared->claims) require(is_plain_uid(uid) && uid == each.uid);
    const auto again = read_prepared_claims(write_prepared_claims(*prepared));
    require(again.ok() && *again == *prepared);
  }
  require_words(read_resource_slices(text));
  const auto slice = read_resource_slice(text);
  require_words(slice);
  if (slice) require(slice->devices.size() <= kMaxSliceDevices);
  require_words(read_node_facts(text));
  return 0;
}
