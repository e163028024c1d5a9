// The one text that people edit in MindCluster's ConfigMaps, a list of chips: what is read is
// written so that it reads back the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/mindcluster/names/chip_list.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace mindcluster = chipweave::codec::mindcluster;
  const auto chips =
      mindcluster::read_chip_list("npu", {reinterpret_cast<const char*>(data), size});
  chipweave::codec::require_words(chips);
  if (!chips) return 0;
  const auto again =
      mindcluster::read_chip_list("npu", mindcluster::write_chip_list("npu", *chips));
  chipweave::codec::require(again.ok() && *again == *chips);
  return 0;
}
