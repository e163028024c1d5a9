#include "node-agent/probes/nvidia/nvml/nvml_pulse.hpp"

#include <algorithm>
#include <cstring>

#include "common/base/limits.hpp"

namespace chipweave::agent {
namespace {

using Felt = std::vector<std::uint64_t>;

constexpr std::array<int, 3> kLinkErrors = {nvml::kLinkReplay, nvml::kLinkRecovery,
                                            nvml::kLinkCrcFlit};
constexpr std::array<std::uint32_t, 4> kLinkErrorFields = {
    nvml::kFieldLinkReplay, nvml::kFieldLinkRecovery, nvml::kFieldLinkCrc,
    nvml::kFieldLinkRecoveryEvents};

std::uint64_t word(std::int64_t number) { return static_cast<std::uint64_t>(number); }

bool nothing_to_ask(nvml::Code code) {
  return code == nvml::kNotSupported || code == nvml::kFunctionNotFound;
}

// Each appends as many values whatever comes: what is felt must be comparable.
nvml::Code feel_rows(const NvmlFunctions& f, nvml::Device handle, Felt& out) {
  std::array<unsigned, 4> rows = {};
  const nvml::Code code = f.remapped_rows(handle, &rows[0], &rows[1], &rows[2], &rows[3]);
  out.insert(out.end(), rows.begin(), rows.end());
  return code;
}

template <int kType>
nvml::Code feel_ecc(const NvmlFunctions& f, nvml::Device handle, Felt& out) {
  std::uint64_t errors = 0;
  const nvml::Code code = f.ecc_errors(handle, kType, nvml::kEccVolatile, &errors);
  out.push_back(errors);
  return code;
}

nvml::Code feel_fabric(const NvmlFunctions& f, nvml::Device handle, Felt& out) {
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
  out.insert(out.end(), {cluster[0], cluster[1], word(info.status), info.clique, info.state,
                         info.health_mask, info.health_summary});
  return code;
}

// The other reasons come and go with the work.
nvml::Code feel_heat(const NvmlFunctions& f, nvml::Device handle, Felt& out) {
  std::uint64_t reasons = 0;
  const nvml::Code code = f.clock_reasons(handle, &reasons);
  out.push_back(reasons & nvml::kClocksHwThermalSlowdown);
  return code;
}

nvml::Code feel_pages(const NvmlFunctions& f, nvml::Device handle, Felt& out) {
  int pending = 0;
  const nvml::Code code = f.retired_pending(handle, &pending);
  out.push_back(pending != 0 ? 1 : 0);
  return code;
}

using Feel = nvml::Code(const NvmlFunctions&, nvml::Device, Felt&);
constexpr std::array<Feel*, 6> kSlow = {feel_rows,
                                        feel_ecc<nvml::kEccCorrected>,
                                        feel_ecc<nvml::kEccUncorrected>,
                                        feel_fabric,
                                        feel_heat,
                                        feel_pages};

nvml::FieldValue field_of(std::uint32_t id, std::uint32_t scope) {
  nvml::FieldValue out{};
  out.field = id;
  out.scope = scope;
  return out;
}

// Asks all at once and keeps those that the driver answers.
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

// A link that sleeps is as good as one that is active, and wakes all the time.
std::uint64_t felt(const nvml::FieldValue& field) {
  const std::uint64_t number = nvml::number_of(field);
  return field.field == nvml::kFieldLinkState && number == 2 ? 1 : number;
}

}  // namespace

NvmlPulse::NvmlPulse(const NvmlLibrary& library) : f_(library.functions()) {
  static_assert(kSlow.size() == kSlowCalls);
  unsigned count = 0;
  code_ = f_.count(&count);
  if (code_ != nvml::kSuccess) count = 0;
  count = std::min(count, static_cast<unsigned>(limits::kMaxChips));
  for (unsigned i = 0; i < count; ++i) bodies_.push_back(prepare(i));
  feel(first_);
  feel_slow(first_slow_);
  now_.reserve(std::max(first_.size(), first_slow_.size()));
}

NvmlPulse::Body NvmlPulse::prepare(unsigned index) const {
  Body body;
  if (f_.handle_by_index(index, &body.handle) != nvml::kSuccess) body.handle = nullptr;
  if (body.handle == nullptr) return body;
  prepare_links(body);
  prepare_slow(body);
  return body;
}

void NvmlPulse::prepare_links(Body& body) const {
  int major = 0;
  int minor = 0;
  if (f_.compute_capability(body.handle, &major, &minor) == nvml::kSuccess && major >= 9) {
    for (unsigned i = 0; i < nvml::kMaxLinks; ++i) {
      body.fast.push_back(field_of(nvml::kFieldLinkState, i));
    }
  }
  body.fast.push_back(field_of(nvml::kFieldRecoveryAction, 0));
  keep_answered(f_, body.handle, body.fast);
  for (const nvml::FieldValue& field : body.fast) {
    if (field.field != nvml::kFieldLinkState) continue;
    for (const std::uint32_t error : kLinkErrorFields) {
      body.slow.push_back(field_of(error, field.scope));
    }
  }
  if (!body.slow.empty()) return;
  for (unsigned i = 0; i < nvml::kMaxLinks; ++i) {
    int active = 0;
    if (f_.link_state(body.handle, i, &active) == nvml::kSuccess) body.links.push_back(i);
  }
}

void NvmlPulse::prepare_slow(Body& body) const {
  Felt ignored;
  for (std::size_t i = 0; i < kSlow.size(); ++i) {
    body.asked.at(i) = !nothing_to_ask(kSlow.at(i)(f_, body.handle, ignored));
  }
  if (!body.slow.empty()) keep_answered(f_, body.handle, body.slow);
  if (!body.links.empty()) {
    std::uint64_t errors = 0;
    body.counts_errors = f_.link_errors(body.handle, body.links.front(), nvml::kLinkReplay,
                                        &errors) == nvml::kSuccess;
  }
}

void NvmlPulse::feel(Felt& out) {
  unsigned count = 0;
  const nvml::Code counted = f_.count(&count);
  out.insert(out.end(), {word(counted), count});
  for (unsigned i = 0; i < bodies_.size(); ++i) {
    Body& body = bodies_[i];
    nvml::Device handle = nullptr;
    const nvml::Code code = f_.handle_by_index(i, &handle);
    const bool same = code == nvml::kSuccess && handle == body.handle;
    out.insert(out.end(), {word(code), same ? std::uint64_t{1} : 0});
    if (body.handle == nullptr) continue;
    feel_fields(body.handle, body.fast, out);
    for (const unsigned link : body.links) {
      int active = 0;
      const nvml::Code asked = f_.link_state(body.handle, link, &active);
      out.insert(out.end(), {word(asked), word(active)});
    }
  }
}

void NvmlPulse::feel_fields(nvml::Device handle, std::vector<nvml::FieldValue>& fields,
                            Felt& out) const {
  if (fields.empty()) return;
  for (nvml::FieldValue& field : fields) {
    field.result = nvml::kNotSupported;
    field.value = 0;
  }
  out.push_back(word(f_.field_values(handle, static_cast<int>(fields.size()), fields.data())));
  for (const nvml::FieldValue& field : fields) {
    out.insert(out.end(), {word(field.result), felt(field)});
  }
}

void NvmlPulse::feel_slow(Felt& out) {
  for (Body& body : bodies_) {
    for (std::size_t i = 0; i < kSlow.size(); ++i) {
      if (!body.asked.at(i)) continue;
      const nvml::Code code = kSlow.at(i)(f_, body.handle, out);
      out.push_back(word(code));
    }
    feel_fields(body.handle, body.slow, out);
    if (!body.counts_errors) continue;
    for (const unsigned link : body.links) {
      for (const int counter : kLinkErrors) {
        std::uint64_t errors = 0;
        const nvml::Code code = f_.link_errors(body.handle, link, counter, &errors);
        out.insert(out.end(), {word(code), errors});
      }
    }
  }
}

bool NvmlPulse::changed() {
  beats_ = (beats_ + 1) % kSlowEvery;
  now_.clear();
  feel(now_);
  const bool differs = now_ != first_;
  if (beats_ == 0) {
    now_.clear();
    feel_slow(now_);
    slow_differs_ = now_ != first_slow_;
  }
  return differs || slow_differs_;
}

}  // namespace chipweave::agent
