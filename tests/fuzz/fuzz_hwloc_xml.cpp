// Any bytes: the import must not crash, and machines that it accepts must have chips.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/codec/topology/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  chipweave::codec::looks_like_hwloc_xml(content);
  const auto imported = chipweave::codec::import_hwloc_xml(content, {});
  if (imported.ok() && imported->topology.chip_count() == 0) std::abort();
  return 0;
}
