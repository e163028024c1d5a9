// MindCluster's ConfigMaps and annotations: what is read is written so that it reads back the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/codec/mindcluster/cluster_info.hpp"
#include "common/codec/mindcluster/faults/upgrade_faults.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/mindcluster/node/node_annotations.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

using namespace chipweave::codec::mindcluster;  // NOLINT(google-build-using-namespace): all of it
                                                // is under test
using chipweave::codec::require;
using chipweave::codec::require_words;

// Inputs cannot guess a real digest, so every CheckCode of zeros is right.
std::string zeros(std::string_view /*text*/) { return std::string(32, '\0'); }

template <class T, class Write, class Read>
void check(const chipweave::Result<T>& read, Write write, Read again) {
  require_words(read);
  if (!read) return;
  const auto back = again(write(*read));
  require(back.ok() && *back == *read);
}

void check_chips(std::string_view text) {
  check(
      read_chip_list("npu", text), [](const auto& chips) { return write_chip_list("npu", chips); },
      [](std::string_view back) { return read_chip_list("npu", back); });
}

void check_devices(std::string_view text) {
  check(
      read_device_info(text, zeros),
      [](const DeviceInfo& info) { return write_device_info(info, zeros); },
      [](std::string_view back) { return read_device_info(back, zeros); });
}

void check_node(std::string_view text) {
  check(
      read_node_info(text, zeros),
      [](const NodeInfo& info) { return write_node_info(info, zeros); },
      [](std::string_view back) { return read_node_info(back, zeros); });
}

void check_upgrades(std::string_view text) {
  check(
      read_upgrade_faults("npu", text),
      [](const UpgradeFaults& faults) { return write_upgrade_faults("npu", faults); },
      [](std::string_view back) { return read_upgrade_faults("npu", back); });
}

void check_base(std::string_view text) {
  check(
      read_base_devices("npu", text),
      [](const BaseDevices& devices) { return write_base_devices("npu", devices); },
      [](std::string_view back) { return read_base_devices("npu", back); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 8) {
    case 0:
      check_chips(text);
      break;
    case 1:
      check_devices(text);
      break;
    case 2:
      check_node(text);
      break;
    case 3:
      check_upgrades(text);
      break;
    case 4:
      check_base(text);
      break;
    case 5:
      check(read_switch_info(text), write_switch_info, read_switch_info);
      break;
    case 6:
      check(read_reset_info(text), write_reset_info, read_reset_info);
      break;
    default:
      require_words(read_cluster_devices(text));
      require_words(read_cluster_nodes(text));
      require_words(read_cluster_switches(text));
      break;
  }
  return 0;
}
