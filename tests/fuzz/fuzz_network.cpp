// Arbitrary bytes → the network importer selected by their content, and the text importers by name:
// no crash; accepted tables satisfy the invariants, read back from our own JSON, and can be passed
// to every exporter. The same bytes are also read as the network of a plan and as a hostfile.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/limits.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/network/export.hpp"
#include "common/codec/network/hostfile.hpp"
#include "common/codec/network/import.hpp"
#include "common/codec/network/plan_network.hpp"
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

void check_as_plan(std::string_view text) {
  constexpr int kFree = 8;
  const auto network = plan_network(text, {}, kFree);
  require_words(network);
  if (!network) return;
  const PlanLine line =
      parse_plan_line("{\"network\":" + network->json + R"(,"gang":{"pods":1,"chips_per_pod":1}})");
  require_words(line.request);
}

void check_as_hostfile(std::string_view text) {
  const auto hosts = parse_hostfile(text);
  require_words(hosts);
  if (!hosts) return;
  require(!hosts->empty());
  std::string again;
  for (const Host& host : *hosts) {
    for (std::size_t i = 0; i < host.lines; ++i) again += host.line + "\n";
  }
  const auto read = parse_hostfile(again);
  require(read.ok() && read->size() == hosts->size());
}

}  // namespace
}  // namespace chipweave::codec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  check(text, {});
  for (const char* format : {"scontrol", "slurm", "ibnetdiscover", "csv"})
    check(text, {format, {}});
  check_as_plan(text);
  check_as_hostfile(text);
  return 0;
}
