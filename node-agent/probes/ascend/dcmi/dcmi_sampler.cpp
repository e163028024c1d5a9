#include "node-agent/probes/ascend/dcmi/dcmi_sampler.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipMetrics;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

class DeviceSampler {
 public:
  DeviceSampler(const DcmiLibrary& library, const DcmiPlace& place)
      : f_(library.functions()), place_(place) {}

  std::optional<ChipMetrics> run(domain::ChipIndex chip) {
    out_.chip = chip;
    int number = 0;
    if (call(f_.temperature, &number)) out_.temperature_celsius = number;
    if (call(f_.power, &number)) out_.power_watts = number / 10.0;
    unsigned value = 0;
    if (call(f_.utilization, dcmi::kAiCoreUtilization, &value)) out_.utilization = value / 100.0;
    if (call(f_.frequency, dcmi::kAiCoreFrequency, &value)) out_.clock_hertz = value * 1e6;
    read_hbm();
    read_ecc();
    return any_ ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  template <class Question, class... A>
  bool call(const Question& question, A... arguments) {
    if (timed_out_) return false;
    const dcmi::Code code = question(place_, arguments...);
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

  const DcmiFunctions& f_;
  const DcmiPlace& place_;
  ChipMetrics out_;
  bool any_ = false;
  bool timed_out_ = false;
};

}  // namespace

std::optional<ChipMetrics> measure_dcmi(const DcmiLibrary& library, const DcmiPlace& place,
                                        domain::ChipIndex chip) {
  return DeviceSampler(library, place).run(chip);
}

}  // namespace chipweave::agent
