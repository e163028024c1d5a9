#include "node-agent/probes/nvidia/snapshot/nvml_memory.hpp"

#include <algorithm>
#include <string_view>

namespace chipweave::agent {
namespace {

bool answers(const NvmlDevice& device) { return !device.lost && device.failure.empty(); }

// From these two a device recovers only by a reset; another failure may be transient.
bool waits_for_reset(const NvmlDevice& device) { return device.lost || device.reset_required; }

template <class T>
void keep(T& now, const T& before) {
  if (now == T{}) now = before;
}

// call: without its version.
bool failed(const NvmlDevice& device, std::string_view call) {
  return std::any_of(device.failed_calls.begin(), device.failed_calls.end(),
                     [call](const std::string& one) { return one.starts_with(call); });
}

void keep_mig(NvmlDevice& now, const NvmlDevice& before) {
  if (!now.mig) {
    if (!answers(now) || failed(now, "nvmlDeviceGetMigMode")) now.mig = before.mig;
  } else if (now.mig->current && !now.mig->all_read && now.mig->instances.empty() && before.mig) {
    now.mig->instances = before.mig->instances;
    now.mig->all_read = before.mig->all_read;
  }
}

void keep_identity(NvmlDevice& now, const NvmlDevice& before) {
  keep(now.uuid, before.uuid);
  keep(now.name, before.name);
  keep(now.pci, before.pci);
  keep(now.minor, before.minor);
  keep(now.module, before.module);
  keep(now.numa, before.numa);
  keep(now.own_numa, before.own_numa);
  keep(now.sm, before.sm);
  keep(now.memory_bytes, before.memory_bytes);
  keep_mig(now, before);
}

// Until the driver reports them again, or reports that the device has no such state. Counters are
// left out: without a value they do not rise.
void keep_state(NvmlDevice& now, const NvmlDevice& before) {
  const auto keep_failed = [&now](auto& state, const auto& last, std::string_view call) {
    if (!state && failed(now, call)) state = last;
  };
  keep_failed(now.retired_pages_pending, before.retired_pages_pending,
              "nvmlDeviceGetRetiredPagesPendingStatus");
  keep_failed(now.remapped_rows, before.remapped_rows, "nvmlDeviceGetRemappedRows");
  keep_failed(now.recovery_action, before.recovery_action, "nvmlDeviceGetFieldValues");
  keep_failed(now.fabric, before.fabric, "nvmlDeviceGetGpuFabricInfo");
}

// A missing or invalid answer does not make it another device.
bool same_device(const NvmlDevice& now, const NvmlDevice& before) {
  if (!now.uuid.empty()) return now.uuid == before.uuid;
  return !now.pci.empty() && now.pci == before.pci;
}

// The driver does not report the other end of a link that is down. Of one that is up only what a
// query failed to read is kept: an invalid address does not confirm the lane.
void keep_ends(NvmlDevice& now, const NvmlDevice& before) {
  for (NvmlLink& link : now.links) {
    const auto same =
        std::find_if(before.links.begin(), before.links.end(),
                     [&link](const NvmlLink& other) { return other.number == link.number; });
    if (same == before.links.end()) continue;
    const bool end_unknown =
        !link.active && link.remote == NvmlRemote::unknown && link.remote_pci.empty();
    const auto open = [&](std::string_view call) { return end_unknown || failed(now, call); };
    if (open("nvmlDeviceGetNvLinkRemoteDeviceType")) keep(link.remote, same->remote);
    if (open("nvmlDeviceGetNvLinkRemotePciInfo")) keep(link.remote_pci, same->remote_pci);
    if (open("nvmlDeviceGetNvLinkCapability")) keep(link.p2p, same->p2p);
    if (open("nvmlDeviceGetNvLinkVersion")) keep(link.version, same->version);
  }
}

bool is_unread(const NvmlDevice& device, unsigned link) {
  return std::find(device.unread_links.begin(), device.unread_links.end(), link) !=
         device.unread_links.end();
}

// Links that it had and no longer lists, as down; of a device that answers, those whose state could
// not be read.
void keep_links(NvmlDevice& now, const NvmlDevice& before) {
  for (NvmlLink link : before.links) {
    if (answers(now) && !is_unread(now, link.number)) continue;
    const bool listed =
        std::any_of(now.links.begin(), now.links.end(),
                    [&link](const NvmlLink& other) { return other.number == link.number; });
    if (listed) continue;
    link.active = false;
    link.replays.reset();
    link.recoveries.reset();
    link.crc_errors.reset();
    now.links.push_back(link);
  }
  std::sort(now.links.begin(), now.links.end(),
            [](const NvmlLink& a, const NvmlLink& b) { return a.number < b.number; });
}

void keep_pairs(NvmlSnapshot& now, const NvmlSnapshot& before) {
  for (const NvmlPair& pair : before.pairs) {
    const bool known = std::any_of(now.pairs.begin(), now.pairs.end(), [&](const NvmlPair& other) {
      return other.a == pair.a && other.b == pair.b;
    });
    if (!known) now.pairs.push_back(pair);
  }
}

}  // namespace

std::vector<int> NvmlMemory::complete(NvmlSnapshot& snapshot) {
  std::vector<int> back;
  if (snapshot.devices.size() != last_.devices.size()) last_ = {};
  bool all_answer = true;
  for (std::size_t i = 0; i < last_.devices.size(); ++i) {
    NvmlDevice& now = snapshot.devices[i];
    const NvmlDevice& before = last_.devices[i];
    if (answers(now) && waits_for_reset(before)) back.push_back(now.index);
    const bool unresponsive = !answers(now);
    const bool same = unresponsive || same_device(now, before);
    if (same) keep_identity(now, before);
    if (same) keep_links(now, before);
    if (unresponsive) {
      all_answer = false;
    } else if (same) {
      keep_state(now, before);
    }
    // Nothing is kept for another device at the same index.
    if (same && now.uuid == before.uuid) keep_ends(now, before);
  }
  if (!all_answer) keep_pairs(snapshot, last_);
  last_ = snapshot;
  return back;
}

}  // namespace chipweave::agent
