#include "node-agent/probes/ascend/ascend_signals.hpp"

#include <array>
#include <string>
#include <utility>

#include "node-agent/probes/ascend/ascend_topology.hpp"

namespace chipweave::agent {
namespace {

using domain::Signal;
using domain::SignalKind;

std::string hex(std::uint32_t value) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out(8, '0');
  for (std::size_t i = out.size(); i-- > 0; value >>= 4U) out[i] = kDigits[value & 15U];
  return out;
}

std::string network_text(int state) {
  constexpr std::array<const char*, dcmi::kNetworkStates> kTexts = {
      "success", "socket fail", "receive timeout", "unreachable",  "time exceeded",
      "fault",   "init",        "thread error",    "detect ip set"};
  return kTexts[static_cast<std::size_t>(state)];
}

class Signals {
 public:
  explicit Signals(AscendGeneration generation) : generation_(generation) {}

  void add(const DcmiDevice& device, int chip) {
    chip_ = domain::ChipIndex{chip};
    const DcmiSample& sample = device.sample;
    if (sample.gone) {
      put("dcmi.gone", 0,
          sample.answer == dcmi::kSuccess ? "no such device" : dcmi_code_text(sample.answer));
      return;
    }
    if (sample.not_responding()) put("dcmi.not-responding", 0, dcmi_code_text(sample.answer));
    for (const DcmiError& error : device.errors) put("dcmi." + hex(error.code), 0, error.text);
    if (sample.health && *sample.health > 0) {
      constexpr std::array<const char*, 4> kLevels = {"", "minor", "major", "critical"};
      put(std::string("dcmi.health.") + kLevels[*sample.health], *sample.health, "");
    }
    if (sample.network_bad() && sample.network) {
      put("hccn.net-health", *sample.network, network_text(*sample.network));
    }
    if (!tells_hccs(generation_)) return;
    if (sample.hccs_bad()) {
      put("hccs.down", 0, "PCS 0x" + hex(*sample.pcs) + ", HDLC 0x" + hex(*sample.hdlc));
    }
    for (const DcmiPcsCounters& of : device.counters) {
      count("hccs.crc", of.pcs, of.crc_errors);
      count("hccs.retry", of.pcs, of.retries);
    }
  }

  std::vector<Signal> list() && { return std::move(out_); }

 private:
  void put(std::string code, double value, std::string text) {
    Signal signal;
    signal.code = std::move(code);
    signal.chip = chip_;
    signal.value = value;
    signal.text = std::move(text);
    out_.push_back(std::move(signal));
  }

  void count(const char* code, int port, std::uint64_t value) {
    put(code, static_cast<double>(value), "");
    out_.back().kind = SignalKind::counter;
    out_.back().port = port;
  }

  AscendGeneration generation_;
  domain::ChipIndex chip_;
  std::vector<Signal> out_;
};

}  // namespace

std::vector<Signal> signals_of(const DcmiEventBatch& batch, const std::map<int, int>& chips) {
  std::vector<Signal> out;
  const auto put = [&out](std::string code, std::string text) -> Signal& {
    Signal& signal = out.emplace_back();
    signal.kind = SignalKind::event;
    signal.code = std::move(code);
    signal.text = std::move(text);
    return signal;
  };
  for (const DcmiOneTimeEvent& event : batch.events) {
    const auto chip = chips.find(event.logic_id);
    if (chip != chips.end()) {
      put("dcmi." + hex(event.code), event.text).chip = domain::ChipIndex{chip->second};
    } else {
      put("dcmi.unknown-device", "event " + hex(event.code) + " of logic id " +
                                     std::to_string(event.logic_id) + ", which no device has");
    }
  }
  if (batch.lost > 0) {
    put("dcmi.events-lost", std::to_string(batch.lost) + " events came faster than they were read");
  }
  return out;
}

std::vector<Signal> signals_of(const DcmiSnapshot& snapshot, AscendGeneration generation) {
  Signals out(generation);
  const std::vector<int> indices = chip_indices(snapshot);
  for (std::size_t i = 0; i < indices.size(); ++i) out.add(snapshot.devices[i], indices[i]);
  return std::move(out).list();
}

}  // namespace chipweave::agent
