#include "node-agent/probes/nvidia/snapshot/nvml_memory.hpp"

#include <algorithm>

namespace chipweave::agent {
namespace {

bool answers(const NvmlDevice& device) { return !device.lost && device.failure.empty(); }

// From these two a device recovers only by a reset; another failure may be transient.
bool waits_for_reset(const NvmlDevice& device) { return device.lost || device.reset_required; }

template <class T>
void keep(T& now, const T& before) {
  if (now == T{}) now = before;
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
}

// A missing or invalid answer does not make it another device.
bool same_device(const NvmlDevice& now, const NvmlDevice& before) {
  if (!now.uuid.empty()) return now.uuid == before.uuid;
  return !now.pci.empty() && now.pci == before.pci;
}

// The driver does not report the other end of a link that is down.
void keep_ends(NvmlDevice& now, const NvmlDevice& before) {
  for (NvmlLink& link : now.links) {
    if (link.active || link.remote != NvmlRemote::unknown || !link.remote_pci.empty()) continue;
    const auto same =
        std::find_if(before.links.begin(), before.links.end(),
                     [&link](const NvmlLink& other) { return other.number == link.number; });
    if (same == before.links.end()) continue;
    link.remote = same->remote;
    link.remote_pci = same->remote_pci;
    keep(link.p2p, same->p2p);
    keep(link.version, same->version);
  }
}

// Links that it had and no longer lists, as down.
void keep_links(NvmlDevice& now, const NvmlDevice& before) {
  for (NvmlLink link : before.links) {
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
    if (unresponsive || same_device(now, before)) keep_identity(now, before);
    if (unresponsive) {
      all_answer = false;
      keep_links(now, before);
    }
    // Nothing is kept for another device at the same index.
    if (now.uuid == before.uuid) keep_ends(now, before);
  }
  if (!all_answer) keep_pairs(snapshot, last_);
  last_ = snapshot;
  return back;
}

}  // namespace chipweave::agent
