// The output of Ascend's tools, and hccn.conf. The first byte selects the reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/ascend/fault_levels.hpp"
#include "common/codec/ascend/hccn/hccn_conf.hpp"
#include "common/codec/ascend/hccn/hccn_dev_info.hpp"
#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

namespace ascend = chipweave::codec::ascend;
using chipweave::codec::require;
using chipweave::codec::require_words;

void check_conf(std::string_view text) {
  const auto conf = ascend::parse_hccn_conf(text);
  require_words(conf);
  if (!conf) return;
  for (const auto& each : conf->devices) {
    require(each.first >= 0 && each.first <= ascend::kMaxHccnDevice);
  }
}

void check_ports(std::string_view text) {
  for (const auto& ports : {ascend::parse_hccn_ip(text), ascend::parse_hccn_ip6(text)}) {
    require_words(ports);
    require(!ports || !ports->empty());
  }
}

void check_faults(std::string_view text) {
  const auto table = ascend::read_fault_table(text);
  require_words(table);
  if (!table) return;
  for (const auto& [code, level] : table->network) {
    require(ascend::is_network_fault(*table, code));
    require(ascend::level_of(*table, code, 0) == level);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0:
      check_conf(text);
      break;
    case 1:
      check_ports(text);
      break;
    case 2:
      require_words(ascend::parse_hccn_dev_info(text));
      break;
    case 4:
      check_faults(text);
      break;
    default:
      require_words(ascend::parse_hccn_link(text));
      require_words(ascend::parse_hccn_net_health(text));
      require_words(ascend::parse_hccn_lldp(text));
      break;
  }
  return 0;
}
