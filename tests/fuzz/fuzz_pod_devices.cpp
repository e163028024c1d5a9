// The annotation of a pod with its devices, and the rank table of a job of two such pods: a table
// never has an address that is none, and can be read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ip_address.hpp"
#include "common/codec/mindcluster/pod/pod_devices.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/domain/ranktable/assembly/job_table.hpp"

namespace {

using namespace chipweave;
using domain::ranktable::Dialect;

void make_table(const codec::mindcluster::PodDevices& devices, Dialect dialect) {
  std::vector<std::optional<domain::ranktable::Member>> members(2);
  for (std::size_t i = 0; i < members.size(); ++i) {
    domain::ranktable::Member member;
    member.pod = "p" + std::to_string(i);
    member.uid = member.pod;
    member.host_ip = i == 0 ? "10.0.0.1" : "10.0.0.2";
    member.pod_ip = member.host_ip;
    member.super_pod = devices.super_pod;
    member.devices = devices.devices;
    if (i == 1) {
      for (auto& device : member.devices) device.ip.clear();
    }
    members[i] = std::move(member);
  }
  domain::ranktable::JobTableForm form;
  form.dialect = dialect;
  const auto made = domain::ranktable::make_job_table(members, form);
  if (!made || !made->missing.empty()) return;
  for (const auto* server : made->table.servers()) {
    for (const auto& device : server->devices) {
      if (device.device_ip && device.device_ip->find(',') == std::string::npos &&
          !parse_ip(*device.device_ip))
        std::abort();
    }
  }
  if (!codec::ranktable::parse_table(codec::ranktable::write_table(made->table, 0))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto devices = codec::mindcluster::read_pod_devices(text);
  if (!devices) return 0;
  for (const Dialect dialect : {Dialect::hccl_1_0, Dialect::hccl_1_2, Dialect::hccl_2_0})
    make_table(*devices, dialect);
  return 0;
}
