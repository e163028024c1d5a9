#include "node-agent/probes/nvidia/nvml/nvml_poller.hpp"

#include <algorithm>
#include <cstring>

#include "common/base/limits.hpp"

namespace chipweave::agent {
namespace {

using Samples = std::vector<std::uint64_t>;

constexpr std::array<int, 3> kLinkErrors = {nvml::kLinkReplay, nvml::kLinkRecovery,
                                            nvml::kLinkCrcFlit};
constexpr std::array<std::uint32_t, 4> kLinkErrorFields = {
    nvml::kFieldLinkReplay, nvml::kFieldLinkRecovery, nvml::kFieldLinkCrc,
    nvml::kFieldLinkRecoveryEvents};

std::uint64_t value_of(std::int64_t number) { return static_cast<std::uint64_t>(number); }

bool is_absent(nvml::Code code) {
  return code == nvml::kNotSupported || code == nvml::kFunctionNotFound;
}

// Each appends the same number of values whether or not its call works, so that samples stay
// comparable.
nvml::Code sample_rows(const NvmlFunctions& f, nvml::Device handle, Samples& out) {
  std::array<unsigned, 4> rows = {};
  const nvml::Code code = f.remapped_rows(handle, &rows[0], &rows[1], &rows[2], &rows[3]);
  out.insert(out.end(), rows.begin(), rows.end());
  return code;
}

template <int kType>
nvml::Code sample_ecc(const NvmlFunctions& f, nvml::Device handle, Samples& out) {
  std::uint64_t errors = 0;
  const nvml::Code code = f.ecc_errors(handle, kType, nvml::kEccVolatile, &errors);
  out.push_back(errors);
  return code;
}

nvml::Code sample_fabric(const NvmlFunctions& f, nvml::Device handle, Samples& out) {
  nvml::Fabric info{};
  info.version = nvml::kFabricV3;
  nvml::Code code = f.fabric(handle, &info);
  if (code == nvml::kVersionMismatch) {
    info = {};
    info.version = nvml::kFabricV2;
    code = f.fabric(handle, &info);
  }
  if (code == nvml::kFunctionNotFound) {
    nvml::FabricV1 first{};
    code = f.fabric_v1(handle, &first);
    info = {};
    std::memcpy(info.cluster_uuid, first.cluster_uuid, sizeof info.cluster_uuid);
    info.status = first.status;
    info.clique = first.clique;
    info.state = first.state;
  }
  std::array<std::uint64_t, 2> cluster = {};
  std::memcpy(cluster.data(), info.cluster_uuid, sizeof cluster);
  out.insert(out.end(), {cluster[0], cluster[1], value_of(info.status), info.clique, info.state,
                         info.health_mask, info.health_summary});
  return code;
}

// Of the reasons only this one means trouble; the others follow the load.
nvml::Code sample_heat(const NvmlFunctions& f, nvml::Device handle, Samples& out) {
  std::uint64_t reasons = 0;
  const nvml::Code code = f.clock_reasons(handle, &reasons);
  out.push_back(reasons & nvml::kClocksHwThermalSlowdown);
  return code;
}

nvml::Code sample_pages(const NvmlFunctions& f, nvml::Device handle, Samples& out) {
  int pending = 0;
  const nvml::Code code = f.retired_pending(handle, &pending);
  out.push_back(pending != 0 ? 1 : 0);
  return code;
}

nvml::Code sample_mig(const NvmlFunctions& f, nvml::Device handle, Samples& out) {
  std::array<unsigned, 2> modes = {};
  const nvml::Code code = f.mig_mode(handle, &modes[0], &modes[1]);
  out.insert(out.end(), modes.begin(), modes.end());
  return code;
}

using Sampler = nvml::Code(const NvmlFunctions&, nvml::Device, Samples&);
constexpr std::array<Sampler*, 7> kSlowSamplers = {sample_rows,
                                                   sample_ecc<nvml::kEccCorrected>,
                                                   sample_ecc<nvml::kEccUncorrected>,
                                                   sample_fabric,
                                                   sample_heat,
                                                   sample_pages,
                                                   sample_mig};

nvml::FieldValue field_of(std::uint32_t id, std::uint32_t scope) {
  nvml::FieldValue out{};
  out.field = id;
  out.scope = scope;
  return out;
}

// Reads all at once and keeps those that the driver knows.
void keep_answered(const NvmlFunctions& f, nvml::Device handle,
                   std::vector<nvml::FieldValue>& fields) {
  for (nvml::FieldValue& field : fields) field.result = nvml::kNotSupported;
  if (f.field_values(handle, static_cast<int>(fields.size()), fields.data()) != nvml::kSuccess) {
    fields.clear();
  }
  std::erase_if(fields, [](const nvml::FieldValue& field) {
    return field.result != nvml::kSuccess ||
           (field.field == nvml::kFieldLinkState && nvml::number_of(field) > 2);
  });
}

// An idle link in its low-power state is as good as an active one, and changes state all the time.
std::uint64_t comparable(const nvml::FieldValue& field) {
  const std::uint64_t number = nvml::number_of(field);
  return field.field == nvml::kFieldLinkState && number == 2 ? 1 : number;
}

}  // namespace

NvmlPoller::NvmlPoller(const NvmlLibrary& library) : f_(library.functions()) {
  static_assert(kSlowSamplers.size() == kSlowCalls);
  unsigned count = 0;
  code_ = f_.count(&count);
  if (code_ != nvml::kSuccess) count = 0;
  count = std::min(count, static_cast<unsigned>(limits::kMaxChips));
  for (unsigned i = 0; i < count; ++i) targets_.push_back(prepare(i));
  sample_all(baseline_);
  sample_slow(baseline_slow_);
  now_.reserve(std::max(baseline_.size(), baseline_slow_.size()));
}

NvmlPoller::Target NvmlPoller::prepare(unsigned index) const {
  Target target;
  if (f_.handle_by_index(index, &target.handle) != nvml::kSuccess) target.handle = nullptr;
  if (target.handle == nullptr) return target;
  prepare_links(target);
  prepare_slow(target);
  return target;
}

void NvmlPoller::prepare_links(Target& target) const {
  int major = 0;
  int minor = 0;
  if (f_.compute_capability(target.handle, &major, &minor) == nvml::kSuccess && major >= 9) {
    for (unsigned i = 0; i < nvml::kMaxLinks; ++i) {
      target.fast.push_back(field_of(nvml::kFieldLinkState, i));
    }
  }
  target.fast.push_back(field_of(nvml::kFieldRecoveryAction, 0));
  keep_answered(f_, target.handle, target.fast);
  for (const nvml::FieldValue& field : target.fast) {
    if (field.field != nvml::kFieldLinkState) continue;
    for (const std::uint32_t error : kLinkErrorFields) {
      target.slow.push_back(field_of(error, field.scope));
    }
  }
  if (!target.slow.empty()) return;
  for (unsigned i = 0; i < nvml::kMaxLinks; ++i) {
    int active = 0;
    if (f_.link_state(target.handle, i, &active) == nvml::kSuccess) target.links.push_back(i);
  }
}

void NvmlPoller::prepare_slow(Target& target) const {
  Samples ignored;
  for (std::size_t i = 0; i < kSlowSamplers.size(); ++i) {
    target.supported.at(i) = !is_absent(kSlowSamplers.at(i)(f_, target.handle, ignored));
  }
  if (!target.slow.empty()) keep_answered(f_, target.handle, target.slow);
  if (!target.links.empty()) {
    std::uint64_t errors = 0;
    target.counts_errors = f_.link_errors(target.handle, target.links.front(), nvml::kLinkReplay,
                                          &errors) == nvml::kSuccess;
  }
}

void NvmlPoller::sample_all(Samples& out) {
  unsigned count = 0;
  const nvml::Code counted = f_.count(&count);
  out.insert(out.end(), {value_of(counted), count});
  for (unsigned i = 0; i < targets_.size(); ++i) {
    Target& target = targets_[i];
    nvml::Device handle = nullptr;
    const nvml::Code code = f_.handle_by_index(i, &handle);
    const bool same = code == nvml::kSuccess && handle == target.handle;
    out.insert(out.end(), {value_of(code), same ? std::uint64_t{1} : 0});
    if (target.handle == nullptr) continue;
    sample_fields(target.handle, target.fast, out);
    for (const unsigned link : target.links) {
      int active = 0;
      const nvml::Code read = f_.link_state(target.handle, link, &active);
      out.insert(out.end(), {value_of(read), value_of(active)});
    }
  }
}

void NvmlPoller::sample_fields(nvml::Device handle, std::vector<nvml::FieldValue>& fields,
                               Samples& out) const {
  if (fields.empty()) return;
  for (nvml::FieldValue& field : fields) {
    field.result = nvml::kNotSupported;
    field.value = 0;
  }
  out.push_back(value_of(f_.field_values(handle, static_cast<int>(fields.size()), fields.data())));
  for (const nvml::FieldValue& field : fields) {
    out.insert(out.end(), {value_of(field.result), comparable(field)});
  }
}

void NvmlPoller::sample_slow(Samples& out) {
  for (Target& target : targets_) {
    for (std::size_t i = 0; i < kSlowSamplers.size(); ++i) {
      if (!target.supported.at(i)) continue;
      const nvml::Code code = kSlowSamplers.at(i)(f_, target.handle, out);
      out.push_back(value_of(code));
    }
    sample_fields(target.handle, target.slow, out);
    if (!target.counts_errors) continue;
    for (const unsigned link : target.links) {
      for (const int counter : kLinkErrors) {
        std::uint64_t errors = 0;
        const nvml::Code code = f_.link_errors(target.handle, link, counter, &errors);
        out.insert(out.end(), {value_of(code), errors});
      }
    }
  }
}

bool NvmlPoller::changed() {
  polls_ = (polls_ + 1) % kSlowEvery;
  now_.clear();
  sample_all(now_);
  const bool differs = now_ != baseline_;
  if (polls_ == 0) {
    now_.clear();
    sample_slow(now_);
    slow_differs_ = now_ != baseline_slow_;
  }
  return differs || slow_differs_;
}

}  // namespace chipweave::agent
