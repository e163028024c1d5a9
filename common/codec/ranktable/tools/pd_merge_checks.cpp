#include "common/codec/ranktable/tools/pd_merge_checks.hpp"

#include <string_view>

#include "common/base/foreign_text.hpp"
#include "common/base/ip_address.hpp"

namespace chipweave::codec::ranktable {
namespace {

constexpr std::size_t kMaxWarnings = 20;

bool is_loopback(const std::string& address) {
  const auto ip = parse_ip(address);
  return address == "localhost" || (ip && ip->is_loopback());
}

// One address, or several of a dual-port device with commas between.
bool are_addresses(std::string_view text) {
  for (;;) {
    const std::size_t comma = text.find(',');
    if (!parse_ip(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<void> PdChecks::take(const InputTable& input, const Server& server) {
  const std::string ip = server.server_ip.value_or("");
  const std::string id = server.server_id.value_or("");
  if (ip.empty() || id.empty()) {
    return input.wrong(server.source, "server_id and server_ip must not be empty");
  }
  const auto [first, fresh] = ids_.try_emplace(ip, id);
  if (!fresh && first->second != id && warnings_.size() < kMaxWarnings) {
    warnings_.push_back(input.place(server.source) + ": server_ip " + in_quotes(ip) +
                        " has server_id " + in_quotes(id) + " here and " +
                        in_quotes(first->second) + " before");
  }
  if (fresh && is_loopback(ip)) loopback_.try_emplace(ip, Seen{&input, server.source});
  for (const Device& device : server.devices) {
    if (Result<void> good = take_device(input, server, device); !good) return good;
  }
  return {};
}

Result<void> PdChecks::take_device(const InputTable& input, const Server& server,
                                   const Device& device) {
  const Seen here{&input, device.source};
  const std::string id = std::to_string(device.device_id.value_or(-1));
  const auto [used, new_device] = devices_.try_emplace(*server.server_ip + "/" + id, here);
  if (!new_device) {
    return input.wrong(device.source, "device_id " + id + " of server " +
                                          in_quotes(*server.server_ip) + " is used in " +
                                          used->second.text() + " too");
  }
  const std::string address = device.device_ip.value_or("");
  if (!are_addresses(address)) {
    return input.wrong(device.source, "device_ip " + in_quotes(address) + " is no address");
  }
  if (device.device_port && (*device.device_port < 1 || *device.device_port > 65535)) {
    return input.wrong(device.source, "device_port must be 1 to 65535");
  }
  const std::string port = device.device_port ? ":" + std::to_string(*device.device_port) : "";
  const auto [owner, new_address] = addresses_.try_emplace(address + port, here);
  if (new_address) return {};
  return input.wrong(device.source, "device_ip " + address + port + " stands in " +
                                        owner->second.text() +
                                        " too: one of the two tables is of another machine or old");
}

Result<void> PdChecks::check_ranks(const InputTable& input, const Server& server,
                                   std::int64_t first) {
  if (server.devices.empty()) {
    return input.wrong(server.source, "has no devices, as only the server of the API has");
  }
  for (const Device& device : server.devices) {
    if (device.rank_id != first) {
      return input.wrong(device.source,
                         "rank_id must be \"" + std::to_string(first) +
                             "\" here: the ranks of an instance are 0, 1, ... in order");
    }
    ++first;
  }
  return {};
}

Result<void> PdChecks::finish() const {
  if (ids_.size() < 2 || loopback_.empty()) return {};
  const auto& [ip, seen] = *loopback_.begin();
  return seen.input->wrong(seen.object, "server_ip " + in_quotes(ip) +
                                            " is reached by no other machine, and there "
                                            "are " +
                                            std::to_string(ids_.size()) +
                                            " of them: generate this table with --ip ADDRESS");
}

}  // namespace chipweave::codec::ranktable
