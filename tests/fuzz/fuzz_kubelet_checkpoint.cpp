// Arbitrary bytes → the kubelet's checkpoint of allocated devices: no crash, and what is accepted
// is sorted and within its limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/kube/kubelet/kubelet_checkpoint.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const auto devices = read_kubelet_checkpoint(text, {""});
  require_words(devices);
  if (!devices) return 0;
  require(devices->size() <= kMaxCheckpointedDevices);
  require(std::is_sorted(devices->begin(), devices->end()));
  return 0;
}
