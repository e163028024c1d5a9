// NodeInventories, Leases and ResourceClaims as an API server sends them, and the placement
// annotation and the claim in a pod's status, which anyone who may edit these can write.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/codec/kube/objects/pod_claim.hpp"
#include "common/codec/kube/pod/placement.hpp"
#include "common/codec/kube/watch.hpp"

namespace {

template <class Object>
void read(const std::string& text) {
  chipweave::codec::WatchReader<Object> reader;
  std::string copy = text;
  static_cast<void>(reader.read_event(copy));
  copy = text;
  static_cast<void>(reader.read_page(copy));
  copy = text;
  static_cast<void>(reader.read_one(copy));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read<chipweave::codec::KubeInventory>(text);
  read<chipweave::codec::KubeNodeMetadata>(text);
  read<chipweave::codec::KubeLease>(text);
  read<chipweave::codec::KubeRankTablePod>(text);
  read<chipweave::codec::KubeClaim>(text);
  read<chipweave::codec::KubeSlice>(text);
  static_cast<void>(chipweave::codec::read_placement(text));
  std::string copy = text;
  static_cast<void>(chipweave::codec::read_stored_claim(copy));
  copy = text;
  static_cast<void>(chipweave::codec::read_pod_claim_status(copy));
  return 0;
}
