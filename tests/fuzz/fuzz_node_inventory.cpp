// Arbitrary bytes → the status of a NodeInventory, and any object as its writer reads it: no crash,
// and what is accepted reads back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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
  const auto faults = read_status_faults(text);
  require_words(faults);
  require(!faults || faults->size() <= chipweave::domain::kMaxReportedFaults);
  std::string body(text);
  require_words(read_stored_object(body));
  return 0;
}
