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
DcmiDevice gone(DcmiDevice device, DcmiSample sample) {
  device.sample = std::move(sample);
  device.errors.clear();
  device.counters.clear();
  device.notes.clear();
  device.unanswered.clear();
  return device;
}

DcmiDevice unlisted(const DcmiSnapshot& snapshot, DcmiDevice device) {
  const auto reason = snapshot.unlisted.find(device.sample.place.card);
  if (reason == snapshot.unlisted.end()) {
    DcmiSample sample;
    sample.place = device.sample.place;
    sample.gone = true;
    sample.answer = dcmi::kNotPresent;
    return gone(std::move(device), std::move(sample));
  }
  if (device.sample.gone) return device;
  device.sample.answer = reason->second;
  device.sample.unanswered = {DcmiFact::health};
  device.notes.clear();
  return device;
}

void take(DcmiDevice& device, const DcmiDevice& last, DcmiFact fact) {
  DcmiSample& sample = device.sample;
  switch (fact) {
    case DcmiFact::health:
      sample.health = last.sample.health;
      return;
    case DcmiFact::network:
      sample.network = last.sample.network;
      return;
    case DcmiFact::errors:
      sample.errors = last.sample.errors;
      device.errors = last.errors;
      return;
    case DcmiFact::hccs:
      sample.pcs = last.sample.pcs;
      sample.hdlc = last.sample.hdlc;
      return;
    case DcmiFact::logic_id:
    case DcmiFact::physical_id:
      return;  // see keep_numbers
    case DcmiFact::chip:
      device.chip_type = last.chip_type;
      device.chip_name = last.chip_name;
      device.npu_name = last.npu_name;
      device.ai_cores = last.ai_cores;
      return;
    case DcmiFact::board:
      device.board = last.board;
      return;
    case DcmiFact::addresses:
      device.addresses = last.addresses;
      return;
    case DcmiFact::super_pod:
      device.super_pod = last.super_pod;
      return;
    case DcmiFact::counters:
      device.counters = last.counters;
      return;
    case DcmiFact::cpus:
      device.cpus = last.cpus;
      return;
  }
}

// Whatever the reason is that the driver does not report it: a device in the same place keeps its
// number as long as no other device has it.
void keep_numbers(const DcmiSnapshot& snapshot, DcmiDevice& device, const DcmiDevice& last) {
  if (!device.logic_id) device.logic_id = last.logic_id;
  if (!device.physical_id && !has_number(snapshot, last)) device.physical_id = last.physical_id;
}

void complete_device(const DcmiSnapshot& snapshot, DcmiDevice& device, const DcmiDevice& last) {
  if (device.sample.gone) {
    const bool moved = device.physical_id != last.physical_id && has_number(snapshot, last);
    if (!moved) device = gone(last, device.sample);
    return;
  }
  keep_numbers(snapshot, device, last);
  for (const DcmiFact fact : device.sample.unanswered) take(device, last, fact);
  for (const DcmiFact fact : device.unanswered) take(device, last, fact);
  for (DcmiError& error : device.errors) {
    if (!error.text.empty()) continue;
    const auto same = std::find_if(last.errors.begin(), last.errors.end(),
                                   [&error](const DcmiError& e) { return e.code == error.code; });
    if (same != last.errors.end()) error.text = same->text;
  }
}

}  // namespace

void DcmiMemory::complete(DcmiSnapshot& snapshot) {
  for (const DcmiDevice& last : last_.devices) {
    const int now = position_of(snapshot, last.sample.place);
    if (now >= 0) {
      complete_device(snapshot, snapshot.devices[static_cast<std::size_t>(now)], last);
    } else if (!has_number(snapshot, last)) {
      snapshot.devices.push_back(unlisted(snapshot, last));
    }
  }
  for (const DcmiPair& pair : last_.pairs) {
    const auto at = [&](int position) {
      return position_of(snapshot, last_.devices[static_cast<std::size_t>(position)].sample.place);
    };
    const auto [a, b] = std::minmax({at(pair.a), at(pair.b)});
    if (a < 0) continue;
    const auto lost = [&](int i) {
      const DcmiSample& sample = snapshot.devices[static_cast<std::size_t>(i)].sample;
      return sample.gone || sample.not_responding() || snapshot.pairs_unanswered;
    };
    const bool known =
        std::any_of(snapshot.pairs.begin(), snapshot.pairs.end(),
                    [a = a, b = b](const DcmiPair& p) { return p.a == a && p.b == b; });
    if (!known && (lost(a) || lost(b))) snapshot.pairs.push_back({a, b, pair.type});
  }
  snapshot.devices_per_card = std::max(snapshot.devices_per_card, last_.devices_per_card);
  last_ = snapshot;
}

}  // namespace chipweave::agent
