#include "cli/ranktable/tools/hccl_command.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "cli/ranktable/tools/addresses/address_source.hpp"
#include "cli/ranktable/tools/addresses/host_address.hpp"
#include "cli/ranktable/tools/read_tables.hpp"
#include "common/codec/ranktable/tools/hccl_tables.hpp"
#include "common/io/file_set.hpp"

namespace chipweave::cli {
namespace {

using codec::ranktable::OutputFile;
using codec::ranktable::PdDevice;

// As the reference does, which writes where it was started.
Result<void> save_here(const OutputFile& file, const ToolLog& log) {
  std::error_code failed;
  const std::string folder = std::filesystem::current_path(failed).string();
  if (failed) {
    return make_error(Errc::unavailable, "the current folder is gone: " + failed.message());
  }
  return io::write_file_set(folder, {{file.name, file.text}}, io::FileMode::by_umask,
                            [&log](const std::string& path) {
                              log.print("Completed: hccl file was save in : " + path + "\n");
                            });
}

// ['0', '1'] as Python prints it.
std::string python_list(const std::vector<std::string>& words) {
  std::string out = "[";
  for (const std::string& word : words) out += (out == "[" ? "'" : ", '") + word + "'";
  return out + "]";
}

Result<std::vector<PdDevice>> look_up(const HcclRequest& request, const Warn& warn) {
  const auto addresses = open_addresses(request.addresses, warn);
  if (!addresses) return addresses.error();
  std::vector<PdDevice> out;
  std::map<std::string, std::string> owners;
  for (int i = request.first; i < request.last; ++i) {
    const std::string& id = request.visible[static_cast<std::size_t>(i)];
    const Result<Ports> ports = (*addresses)->of(std::stoi(id));
    if (!ports) return ports.error();
    const std::string& address = ports->front().address;
    const auto [first, fresh] = owners.try_emplace(address, id);
    if (!fresh) {
      return make_error(Errc::conflict, "devices " + first->second + " and " + id +
                                            " both have address " + address);
    }
    if (ports->size() > 1) {
      warn("device " + id + " has several ports; the address of the first is taken");
    }
    out.push_back({std::stoi(id), address, std::nullopt});
  }
  return out;
}

}  // namespace

Result<void> run_hccl(const HcclRequest& request, const ToolLog& log) {
  const Warn warn = [&log](const std::string& sentence) { log.warn(sentence); };
  const Result<std::string> server = host_address(request.server_ip, "--server_ip", warn);
  if (!server) return server.error();
  log.print("start " + log.program() + "\nvisible_devices:" + python_list(request.visible) +
            "\nserver_id:" + *server + "\n");
  const auto devices = look_up(request, warn);
  if (!devices) return devices.error();
  for (std::size_t rank = 0; rank < devices->size(); ++rank) {
    const PdDevice& device = (*devices)[rank];
    log.print("rank_id:" + std::to_string(rank) + ", device_id:" + std::to_string(device.id) +
              ", device_ip:" + device.address + "\n");
  }
  std::string name = "hccl_" + std::to_string(devices->size()) + "p_";
  for (int i = request.first; i < request.last; ++i) name += std::to_string(i);
  return save_here(
      {name + "_" + *server + ".json", codec::ranktable::write_hccl_table(*server, *devices)}, log);
}

Result<void> run_merge_hccl(const std::vector<std::string>& files, const ToolLog& log) {
  auto tables = read_tables(files);
  if (!tables) return std::move(tables).error();
  const auto merged = codec::ranktable::merge_hccl_tables(*std::move(tables));
  if (!merged) return merged.error();
  for (const std::string& warning : merged->warnings) log.warn(warning);
  return save_here(merged->file, log);
}

}  // namespace chipweave::cli
