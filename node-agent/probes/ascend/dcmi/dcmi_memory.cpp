#include "node-agent/probes/ascend/dcmi/dcmi_memory.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::agent {
namespace {

int position_of(const DcmiSnapshot& snapshot, const DcmiPlace& place) {
  const auto it = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                               [&place](const DcmiDevice& d) { return d.sample.place == place; });
  return it == snapshot.devices.end() ? -1 : static_cast<int>(it - snapshot.devices.begin());
}

// The device has another position, as after a reset in another order.
bool has_number(const DcmiSnapshot& snapshot, const DcmiDevice& device) {
  return std::any_of(snapshot.devices.begin(), snapshot.devices.end(), [&](const DcmiDevice& d) {
    return d.physical_id && d.physical_id == device.physical_id;
  });
}

// The last known device with its current sample.
DcmiDevice remembered(DcmiDevice device, DcmiSample sample) {
  device.sample = std::move(sample);
  device.errors.clear();
  device.counters.clear();
  device.notes.clear();
  return device;
}

}  // namespace

void DcmiMemory::complete(DcmiSnapshot& snapshot) {
  for (const DcmiDevice& old : last_.devices) {
    const int now = position_of(snapshot, old.sample.place);
    if (now < 0) {
      DcmiSample gone;
      gone.place = old.sample.place;
      gone.gone = true;
      gone.answer = dcmi::kNotPresent;
      if (!has_number(snapshot, old)) snapshot.devices.push_back(remembered(old, std::move(gone)));
      continue;
    }
    DcmiDevice& device = snapshot.devices[static_cast<std::size_t>(now)];
    if (device.sample.gone) device = remembered(old, device.sample);
  }
  for (const DcmiPair& pair : last_.pairs) {
    const auto at = [&](int position) {
      return position_of(snapshot, last_.devices[static_cast<std::size_t>(position)].sample.place);
    };
    const auto [a, b] = std::minmax({at(pair.a), at(pair.b)});
    if (a < 0) continue;
    const auto gone = [&](int i) {
      return snapshot.devices[static_cast<std::size_t>(i)].sample.gone;
    };
    if (gone(a) || gone(b)) snapshot.pairs.push_back({a, b, pair.type});
  }
  snapshot.devices_per_card = std::max(snapshot.devices_per_card, last_.devices_per_card);
  last_ = snapshot;
}

}  // namespace chipweave::agent
