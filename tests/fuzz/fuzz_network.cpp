// Arbitrary bytes → the network importer that their content chooses, and the text importers by
// name: no crash; what is accepted keeps the rules of a table, reads back from our own JSON, and
// can be offered to every exporter.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/limits.hpp"
#include "common/codec/network/export.hpp"
#include "common/codec/network/import.hpp"
#include "tests/fuzz/read_back.hpp"

namespace chipweave::codec {
namespace {

void check(std::string_view text, const NetworkImportOptions& options) {
  const auto imported = import_network(text, options);
  require_words(imported);
  if (!imported) return;
  require(!imported->format.empty());
  for (const domain::NetworkNode& node : imported->table.nodes) {
    require(!node.name.empty() && node.path.size() == imported->table.levels.size());
  }
  const std::string json = export_network_json(imported->table, imported->warnings);
  const auto again = import_network(json, {});
  require(again.ok());
  require(export_network_json(again->table, again->warnings) == json);
  for (const std::string_view format : network_export_formats()) {
    require_words(export_network(imported->table, format));
  }
}

}  // namespace
}  // namespace chipweave::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  check(text, {});
  for (const char* format : {"slurm", "ibnetdiscover", "csv"}) check(text, {format, {}});
  return 0;
}
