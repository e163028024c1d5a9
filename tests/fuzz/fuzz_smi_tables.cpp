// Arbitrary bytes → the importers of amd-smi and mx-smi, also where the content would not select
// them: no crash, errors have a message, accepted machines read back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/topology/import.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  looks_like_amd_smi(text);
  looks_like_mx_smi(text);
  for (const auto import : {import_amd_smi, import_mx_smi}) {
    const auto machine = import(text, {});
    require_words(machine);
    if (machine) require_reads_back(machine->topology);
  }
  return 0;
}
