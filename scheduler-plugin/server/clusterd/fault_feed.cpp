#include "scheduler-plugin/server/clusterd/fault_feed.hpp"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/stable_hash.hpp"
#include "common/base/text.hpp"
#include "common/codec/mindcluster/faults/reported_faults.hpp"

namespace chipweave::sched::clusterd {
namespace {

// Of a node and of a device, as MindIE reads them.
constexpr const char* kSubHealthy = "SubHealthy";
constexpr const char* kUnHealthy = "UnHealthy";

void add_device(const codec::mindcluster::ChipFault& chip, fault::NodeFaultInfo& to) {
  fault::DeviceFaultInfo& device = *to.add_faultdevice();
  const std::size_t dash = chip.npu.rfind('-');
  device.set_deviceid(dash == std::string::npos ? chip.npu : chip.npu.substr(dash + 1));
  device.set_devicetype("NPU");
  device.set_faultlevel(chip.level);
  device.add_faulttype(chip.type);
  if (chip.code.empty()) return;
  for (const std::string_view code : split(chip.code, ',')) {
    device.add_faultcodes(std::string(code));
    device.add_faultlevels(chip.level);
  }
}

// False: it has none.
bool describe(const Node* node, bool ready, fault::NodeFaultInfo& to) {
  bool unusable = !ready || node == nullptr;
  if (!ready) {
    fault::DeviceFaultInfo& device = *to.add_faultdevice();
    device.set_deviceid("-1");
    device.set_devicetype("Node");
    device.set_faultlevel(kUnHealthy);
  }
  if (node != nullptr && node->has_inventory()) {
    const codec::mindcluster::AscendNames names(node->topology);
    for (const auto& chip : codec::mindcluster::chip_faults_of(names, node->faults))
      add_device(chip, to);
    unusable = unusable || !node->unhealthy.empty();
  }
  if (to.faultdevice_size() == 0) return false;
  to.set_faultlevel(unusable ? kUnHealthy : kSubHealthy);
  return true;
}

}  // namespace

FaultFeed::FaultFeed(const RankTables& tables, const Scheduler& scheduler, const Clock& clock,
                     CallerLimits& limits)
    : tables_(tables),
      scheduler_(scheduler),
      subscriptions_(clock, limits,
                     [this](const std::string& job) { return signal(job).SerializeAsString(); }) {}

fault::FaultMsgSignal FaultFeed::signal(const std::string& job) const {
  fault::FaultMsgSignal out;
  out.set_jobid(job);
  for (const auto& [name, ip] : tables_.nodes_of(job)) {
    const NodeId id = scheduler_.nodes().find(name);
    fault::NodeFaultInfo info;
    info.set_nodename(name);
    info.set_nodeip(ip);
    const Node* node = id == kNoNode ? nullptr : &scheduler_.nodes().node(id);
    if (describe(node, scheduler_.standings().is_ready(name), info))
      *out.add_nodefaultinfo() = std::move(info);
  }
  out.set_signaltype(out.nodefaultinfo_size() == 0 ? "normal" : "fault");
  out.set_uuid(hexadecimal(stable_hash(out.SerializeAsString())));
  return out;
}

void FaultFeed::tick(bool leads) {
  subscriptions_.tick(leads);
  std::vector<std::string> jobs;
  subscriptions_.each_subscribed([&](const std::string& job) { jobs.push_back(job); });
  for (const std::string& job : jobs) subscriptions_.push(job, signal(job).SerializeAsString());
}

}  // namespace chipweave::sched::clusterd
