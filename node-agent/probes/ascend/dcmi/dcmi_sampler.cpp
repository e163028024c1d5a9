#include "node-agent/probes/ascend/dcmi/dcmi_sampler.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipMetrics;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
constexpr int kProfilingMs = 20;
constexpr double kGigabyte = 1e9;

class DeviceSampler {
 public:
  DeviceSampler(const DcmiLibrary& library, const DcmiPlace& place)
      : f_(library.functions()), place_(place) {}

  std::optional<ChipMetrics> run(domain::ChipIndex chip, const std::vector<int>& pcs) {
    out_.chip = chip;
    int number = 0;
    if (call(f_.temperature, &number)) out_.temperature_celsius = number;
    if (call(f_.power, &number)) out_.power_watts = number / 10.0;
    unsigned value = 0;
    if (call(f_.utilization, dcmi::kAiCoreUtilization, &value)) out_.utilization = value / 100.0;
    if (call(f_.frequency, dcmi::kAiCoreFrequency, &value)) out_.clock_hertz = value * 1e6;
    read_hbm();
    read_ecc();
    if (!pcs.empty()) read_hccs(pcs);
    return any_ ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  template <class Question, class... A>
  bool call(const Question& question, A... arguments) {
    return !timed_out_ && worked(question(place_, arguments...));
  }

  bool worked(dcmi::Code code) {
    timed_out_ = code == dcmi::kTimeout;
    any_ = any_ || code == dcmi::kSuccess;
    return code == dcmi::kSuccess;
  }

  void read_hbm() {
    dcmi::HbmInfo hbm{};
    if (!call(f_.hbm, &hbm) || hbm.size_mib == 0) return;
    out_.memory_temperature_celsius = hbm.celsius;
    out_.memory_total_bytes = hbm.size_mib * kMebibyte;
    out_.memory_used_bytes = hbm.used_mib * kMebibyte;
  }

  // Chips without HBM have DDR.
  void read_ecc() {
    dcmi::EccInfo ecc{};
    if (!call(f_.ecc, dcmi::kEccOfHbm, &ecc) && !call(f_.ecc, dcmi::kEccOfDdr, &ecc)) return;
    if (ecc.enabled == 0) return;
    out_.corrected_errors = ecc.single_bit;
    out_.uncorrected_errors = ecc.double_bit;
  }

  void read_hccs(const std::vector<int>& pcs) {
    dcmi::HccsBandwidth info{};
    info.profiling_ms = kProfilingMs;
    if (place_.flat || timed_out_) return;
    if (!worked(f_.hccs_bandwidth(place_.card, place_.device, &info))) return;
    for (const int link : pcs) {
      if (link < 0 || static_cast<std::size_t>(link) >= dcmi::kMaxPcs) continue;
      out_.rates.push_back({domain::TrafficKind::hccs, link, info.sent[link] * kGigabyte,
                            info.received[link] * kGigabyte});
    }
  }

  const DcmiFunctions& f_;
  const DcmiPlace& place_;
  ChipMetrics out_;
  bool any_ = false;
  bool timed_out_ = false;
};

}  // namespace

std::optional<ChipMetrics> measure_dcmi(const DcmiLibrary& library, const DcmiPlace& place,
                                        domain::ChipIndex chip, const std::vector<int>& pcs) {
  return DeviceSampler(library, place).run(chip, pcs);
}

}  // namespace chipweave::agent
