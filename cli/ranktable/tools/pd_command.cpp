#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/input_file.hpp"
#include "cli/ranktable/tools/addresses/address_source.hpp"
#include "cli/ranktable/tools/addresses/borrowed_nics.hpp"
#include "cli/ranktable/tools/requests.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/tools/generated_tables.hpp"
#include "common/codec/ranktable/tools/merge.hpp"
#include "common/codec/ranktable/tools/pd_instances.hpp"
#include "common/io/file_set.hpp"

namespace chipweave::cli {
namespace {

using codec::ranktable::DeviceIds;
using codec::ranktable::MergedTable;
using codec::ranktable::PdDevice;
using codec::ranktable::PdInstance;
using codec::ranktable::PdMachine;

// Looks up devices; no two of them may share an address.
class DeviceTable {
 public:
  DeviceTable(DeviceAddresses addresses, BorrowedNics nics, Warn warn)
      : addresses_(std::move(addresses)), nics_(std::move(nics)), warn_(std::move(warn)) {}

  Result<std::vector<PdInstance>> look_up(const std::vector<DeviceIds>& instances) {
    std::vector<PdInstance> out;
    for (const DeviceIds& ids : instances) {
      PdInstance& instance = out.emplace_back();
      for (const int id : ids) {
        Result<PdDevice> device = look_up(id);
        if (!device) return std::move(device).error();
        instance.push_back(*std::move(device));
      }
    }
    return out;
  }

  void warn_of_unused() const {
    for (const std::string& address : nics_.unused()) {
      warn_("argument --replace-device-list: no device of these instances has address " + address);
    }
  }

 private:
  Result<PdDevice> look_up(int id) {
    const Result<Ports> ports = addresses_(id);
    if (!ports) return ports.error();
    if (ports->size() > 1) {
      warn_(concat("device ", id, " has ", ports->size(),
                   " ports; its table entry uses the address of the first one"));
    }
    Result<PdDevice> device = nics_.resolve(id, ports->front().address, addresses_);
    if (!device) return device;
    const std::string key = device->address + (device->port ? concat(":", *device->port) : "");
    const auto [first, fresh] = owners_.try_emplace(key, id);
    if (!fresh) return clash("both have address " + key, first->second, id);
    const bool v6 = parse_ip(device->address)->v6;
    if (owners_.size() == 1) v6_ = v6;
    if (v6 != v6_)
      return clash("have addresses of different families", owners_.begin()->second, id);
    return device;
  }

  static Error clash(const std::string& what, int a, int b) {
    return make_error(Errc::conflict, concat("devices ", a, " and ", b, " ", what,
                                             ", so links between them would fail"));
  }

  DeviceAddresses addresses_;
  BorrowedNics nics_;
  Warn warn_;
  std::map<std::string, int> owners_;  // address → device
  bool v6_ = false;
};

Result<std::vector<NamedText>> generated(const PdRequest& request, const Warn& warn) {
  if (!request.api_server && request.prefill.empty() && request.decode.empty()) {
    return make_error(Errc::invalid_argument,
                      "nothing to generate: add --api-server, --prefill-server-list or "
                      "--decode-server-list");
  }
  auto instances =
      codec::ranktable::read_pd_instances(request.prefill, request.decode, request.strict);
  if (!instances) return std::move(instances).error();
  for (const std::string& warning : instances->warnings) warn(warning);
  auto nics = BorrowedNics::parse(request.replaced_devices, request.port_range);
  if (!nics) return std::move(nics).error();
  PdMachine machine;
  const Result<std::string> address = host_address(request.ip, "--ip", warn);
  if (!address) return address.error();
  machine.address = *address;
  machine.api_server = request.api_server;
  if (!instances->prefill.empty() || !instances->decode.empty()) {
    auto addresses = open_addresses(request.addresses, warn);
    if (!addresses) return std::move(addresses).error();
    DeviceTable devices(*std::move(addresses), *std::move(nics), warn);
    auto prefill = devices.look_up(instances->prefill);
    if (!prefill) return std::move(prefill).error();
    auto decode = devices.look_up(instances->decode);
    if (!decode) return std::move(decode).error();
    devices.warn_of_unused();
    machine.prefill = *std::move(prefill);
    machine.decode = *std::move(decode);
  }
  return codec::ranktable::write_pd_tables(machine);
}

Result<MergedTable> merged(const PdRequest& request) {
  using namespace codec::ranktable;
  if (request.mode == PdMode::merge) {
    return read_tables(request.global_tables).and_then([&](std::vector<NamedText> tables) {
      return merge_pd_global(std::move(tables), request.strict);
    });
  }
  if (request.mode == PdMode::merge_local) {
    return read_tables(request.local_tables).and_then(merge_pd_local);
  }
  auto prefill = read_tables(request.prefill);
  if (!prefill) return std::move(prefill).error();
  auto decode = read_tables(request.decode);
  if (!decode) return std::move(decode).error();
  return merge_pd_all(*std::move(prefill), *std::move(decode));
}

Result<std::vector<NamedText>> outputs(const PdRequest& request, const Warn& warn) {
  if (request.mode == PdMode::gen) return generated(request, warn);
  auto table = merged(request);
  if (!table) return std::move(table).error();
  for (const std::string& warning : table->warnings) warn(warning);
  return std::vector<NamedText>{std::move(table->file)};
}

}  // namespace

Result<std::vector<NamedText>> read_tables(const std::vector<std::string>& names) {
  constexpr std::size_t kMax = limits::kMaxRankTableBytes;
  std::size_t left = 2 * kMax;
  std::vector<NamedText> out;
  for (const std::string& name : names) {
    if (name.empty()) return make_error(Errc::invalid_argument, "a file name must not be empty");
    Result<std::string> text = read_input(name, std::min(left, kMax));
    if (!text) return std::move(text).error();
    left -= text->size();
    out.push_back({name == "-" ? input_name(name) : name, *std::move(text)});
  }
  return out;
}

Result<void> run_pd(const PdRequest& request, const ToolLog& log) {
  const Warn warn = [&log](const std::string& message) { log.warn(message); };
  const auto files = outputs(request, warn);
  if (!files) return files.error();
  if (request.dry_run) {
    for (const NamedText& file : *files) {
      log.info(concat("Would save ", io::joined_path(request.save_dir, file.name), ", ",
                      file.text.size(), " bytes."));
    }
    return {};
  }
  return io::write_file_set(request.save_dir, *files, io::FileMode::owner_only,
                            [&log](const std::string& path) { log.info("Save " + path + "."); });
}

}  // namespace chipweave::cli
