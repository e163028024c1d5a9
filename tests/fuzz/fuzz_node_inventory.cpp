// Arbitrary bytes → the status of a NodeInventory, and any object as its writer reads it: no crash,
// and what is accepted reads back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/limits.hpp"
#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/kube/inventory/inventory_health.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const auto inventory = read_inventory_status(text, "n1");
  require_words(inventory);
  if (inventory) {
    require(inventory->sequence >= 1 && !inventory->boot_id.empty());
    require(!inventory->resources.empty());
    require_reads_back(inventory->topology);
    std::string body = write_inventory_status(*inventory, {"u1", "1"});
    const auto stored = read_stored_object(body);
    require(stored.ok() && stored->sequence == inventory->sequence);
  }
  const auto details = read_status_details(text);
  require_words(details.faults);
  require(!details.faults || details.faults->size() <= chipweave::domain::kMaxReportedFaults);
  require(details.carried.size() <= static_cast<std::size_t>(chipweave::limits::kMaxChips));
  require(!details.given ||
          details.given->containers.size() <= chipweave::domain::kMaxGivenContainers);
  const InventoryMemory memory = read_object_memory(text, "b");
  require(memory.node.faults.size() <= chipweave::domain::kMaxReportedFaults);
  if (memory.node.topology) require_reads_back(*memory.node.topology);
  std::string body(text);
  require_words(read_stored_object(body));
  return 0;
}
