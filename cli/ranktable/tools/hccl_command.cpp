#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/ranktable/tools/addresses/address_source.hpp"
#include "cli/ranktable/tools/requests.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/tools/generated_tables.hpp"
#include "common/codec/ranktable/tools/merge.hpp"
#include "common/codec/ranktable/tools/pd_instances.hpp"
#include "common/io/file_set.hpp"

namespace chipweave::cli {
namespace {

using codec::ranktable::argument_error;
using codec::ranktable::PdDevice;

constexpr int kMaxDevices = 64;  // of a server
constexpr int kClassicDevices = 8;
constexpr int kClassicGroup = 4;  // the devices of a 910A server are linked in two groups

struct Devices {
  int first = 0;                     // devices as the job numbers them
  int last = 0;                      // excluded
  std::vector<std::string> visible;  // physical id of each device, as written
};

// "[0,8)"
std::optional<Devices> interval_of(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(')')) return std::nullopt;
  const std::vector<std::string_view> ends = split(text.substr(1, text.size() - 2), ',');
  if (ends.size() != 2) return std::nullopt;
  const auto first = whole_number(ends[0], kMaxDevices);
  const auto last = whole_number(ends[1], kMaxDevices);
  if (!first || !last) return std::nullopt;
  return Devices{static_cast<int>(*first), static_cast<int>(*last), {}};
}

Result<Devices> read_interval(const std::string& text, int per_node) {
  constexpr const char* kOption = "--device_num";
  const auto out = interval_of(text);
  if (!out)
    return argument_error(kOption, "must be [FIRST,LAST), such as [0,8), got ", in_quotes(text));
  if (out->last > per_node) {
    return argument_error(kOption, in_quotes(text), " must be in range [0,", per_node,
                          "]; --device_num_per_node sets the number of devices");
  }
  if (out->first >= out->last) {
    return argument_error(kOption, in_quotes(text), " is empty: FIRST must be less than LAST");
  }
  const bool whole = out->first == 0 && out->last == kClassicDevices;
  const bool crosses = out->first < kClassicGroup && out->last > kClassicGroup;
  if (per_node == kClassicDevices && !whole && crosses) {
    return argument_error(kOption, in_quotes(text),
                          " must be in the same group of [0,4] or [4,8], or [0,8)");
  }
  return *out;
}

Result<std::vector<std::string>> read_visible(const std::string& text) {
  constexpr const char* kOption = "--visible_devices";
  std::vector<std::string> out;
  for (const std::string_view id : split(text, ',')) {
    if (!whole_number(id, kMaxDevices - 1)) {
      return argument_error(kOption, "expected a device id, got ", in_quotes(id), " in ",
                            in_quotes(text));
    }
    if (std::find(out.begin(), out.end(), id) != out.end()) {
      return argument_error(kOption, "device ", id, " is repeated in ", in_quotes(text));
    }
    out.emplace_back(id);
  }
  return out;
}

Result<Devices> read_devices(const HcclRequest& request) {
  const auto count = whole_number(request.devices_per_node, kMaxDevices);
  if (!count || *count == 0) {
    return argument_error("--device_num_per_node", "must be 1 to ", kMaxDevices, ", got ",
                          in_quotes(request.devices_per_node));
  }
  auto out = read_interval(request.device_num.value_or(concat("[0,", *count, ")")),
                           static_cast<int>(*count));
  if (!out) return out;
  std::vector<int> ids(static_cast<std::size_t>(*count));
  std::iota(ids.begin(), ids.end(), 0);
  auto visible = read_visible(request.visible_devices.value_or(comma_list(ids)));
  if (!visible) return std::move(visible).error();
  out->visible = *std::move(visible);
  if (out->visible.size() < static_cast<std::size_t>(out->last)) {
    return argument_error("--visible_devices", "names ", out->visible.size(),
                          " devices, but --device_num includes device ", out->last - 1);
  }
  return out;
}

// The reference writes to the folder it is started in.
Result<void> save_here(const NamedText& file, const ToolLog& log) {
  std::error_code failed;
  const std::string folder = std::filesystem::current_path(failed).string();
  if (failed) {
    return make_error(Errc::unavailable, "the current folder is gone: " + failed.message());
  }
  return io::write_file_set(folder, {file}, io::FileMode::by_umask,
                            [&log](const std::string& path) {
                              log.print("Completed: hccl file was save in : " + path + "\n");
                            });
}

Result<std::vector<PdDevice>> look_up(const Devices& devices, const AddressFlags& flags,
                                      const Warn& warn) {
  const auto addresses = open_addresses(flags, warn);
  if (!addresses) return addresses.error();
  std::vector<PdDevice> out;
  std::map<std::string, int> owners;
  for (int i = devices.first; i < devices.last; ++i) {
    const int id = std::stoi(devices.visible[static_cast<std::size_t>(i)]);
    const Result<Ports> ports = (*addresses)(id);
    if (!ports) return ports.error();
    const std::string& address = ports->front().address;
    const auto [owner, is_new] = owners.try_emplace(address, id);
    if (!is_new) {
      return make_error(Errc::conflict, concat("devices ", owner->second, " and ", id,
                                               " both have address ", address));
    }
    if (ports->size() > 1) {
      warn(concat("device ", id, " has several ports; the address of the first one is used"));
    }
    out.push_back({id, address, std::nullopt});
  }
  return out;
}

}  // namespace

Result<void> run_hccl(const HcclRequest& request, const ToolLog& log) {
  const auto wanted = read_devices(request);
  if (!wanted) return wanted.error();
  const Warn warn = [&log](const std::string& message) { log.warn(message); };
  const Result<std::string> server = host_address(request.server_ip, "--server_ip", warn);
  if (!server) return server.error();
  // The list as Python prints it.
  log.print(concat("start ", log.program(), "\nvisible_devices:['", joined(wanted->visible, "', '"),
                   "']\nserver_id:", *server, "\n"));
  const auto devices = look_up(*wanted, request.addresses, warn);
  if (!devices) return devices.error();
  for (std::size_t rank = 0; rank < devices->size(); ++rank) {
    const PdDevice& device = (*devices)[rank];
    log.print(
        concat("rank_id:", rank, ", device_id:", device.id, ", device_ip:", device.address, "\n"));
  }
  std::string ids;
  for (int i = wanted->first; i < wanted->last; ++i) ids += std::to_string(i);
  return save_here({concat("hccl_", devices->size(), "p_", ids, "_", *server, ".json"),
                    codec::ranktable::write_hccl_table(*server, *devices)},
                   log);
}

Result<void> run_merge_hccl(const std::vector<std::string>& files, const ToolLog& log) {
  const auto merged = read_tables(files).and_then(codec::ranktable::merge_hccl_tables);
  if (!merged) return merged.error();
  for (const std::string& warning : merged->warnings) log.warn(warning);
  return save_here(merged->file, log);
}

}  // namespace chipweave::cli
