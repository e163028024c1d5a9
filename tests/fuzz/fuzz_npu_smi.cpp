// Arbitrary bytes → npu-smi info -t topo and rocm-smi --showtopo: no crash, and what is accepted
// reads back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/topology/import.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  looks_like_npu_smi(text);
  const auto all = import_npu_smi_all(text, {});
  require_words(all);
  if (all) {
    for (const auto& one : *all) require_reads_back(one.topology);
  }
  looks_like_rocm_smi(text);
  const auto rocm = import_rocm_smi(text, {});
  require_words(rocm);
  if (rocm) require_reads_back(rocm->topology);
  return 0;
}
