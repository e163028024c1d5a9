// Any bytes: the import must not crash, and what it accepts must survive an export and a second
// import.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/codec/topology/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  chipweave::codec::looks_like_nccl_xml(content);
  if (const auto graph = chipweave::codec::import_nccl_graph(content, {});
      graph.ok() && graph->topology.chip_count() == 0)
    std::abort();
  const auto first = chipweave::codec::import_nccl_xml(content, {});
  if (first.ok()) {
    const auto again = chipweave::codec::import_nccl_xml(
        chipweave::codec::export_nccl_xml(first->topology).text, {});
    if (!again.ok() || again->topology.chip_count() != first->topology.chip_count()) std::abort();
  }
  return 0;
}
