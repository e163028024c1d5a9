// Arbitrary bytes → the stored plan of a gang, and an event of the watch of ConfigMaps: no crash,
// every error has words, and what is written again reads as the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/codec/kube/objects/gang_plan.hpp"
#include "common/codec/kube/watch.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  const std::string text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  WatchReader<KubeConfigMap> reader;
  std::string line = text;
  require_words(reader.read_event(line));
  const auto plan = read_gang_plan(text);
  require_words(plan);
  if (!plan) return 0;
  const auto again = write_gang_plan(*plan);
  require_words(again);
  if (!again) return 0;  // its texts are not UTF-8
  const auto reread = read_gang_plan(*again);
  require(reread.ok() && *reread == *plan);
  return 0;
}
