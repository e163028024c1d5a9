// Arbitrary bytes → the importer selected by their content: no crash, and what is accepted reads
// back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/topology/import.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const auto imported = import_topology(text, {});
  require_words(imported);
  if (imported) {
    require(!imported->format.empty());
    require_reads_back(imported->topology);
  }
  return 0;
}
