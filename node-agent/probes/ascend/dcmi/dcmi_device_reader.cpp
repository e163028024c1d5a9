#include "node-agent/probes/ascend/dcmi/dcmi_device_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/base/limits.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxNotes = 32;
constexpr unsigned kMaxAiCores = 1024;
constexpr int kMaxTimeouts = 2;

// Valid values are small; anything else is "none".
int number_or_none(std::uint32_t value) {
  constexpr auto kMaxInt = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  return value <= kMaxInt ? static_cast<int>(value) : -1;
}

// "" for the unspecified address.
std::string address_text(const dcmi::IpAddress& answer, bool v6) {
  chipweave::IpAddress out;
  out.v6 = v6;
  const std::size_t bytes = v6 ? 16 : 4;
  std::copy(answer.bytes, answer.bytes + bytes, out.bytes.begin());
  const bool set = std::any_of(out.bytes.begin(), out.bytes.end(), [](auto b) { return b != 0; });
  return set ? out.text() : "";
}

class DeviceReader {
 public:
  DeviceReader(const DcmiLibrary& library, const DcmiPlace& place)
      : f_(library.functions()), at_(place) {
    out_.sample.place = place;
  }

  DcmiSample sample() {
    read_sample();
    return std::move(out_.sample);
  }

  DcmiDevice device() {
    read_sample();
    read_ids();
    if (out_.sample.gone) return std::move(out_);
    read_chip();
    read_error_texts();
    read_addresses();
    read_super_pod();
    read_counters();
    read_cpus();
    return std::move(out_);
  }

 private:
  // True if the call worked. "Not supported" is not noted.
  bool worked(DcmiFact fact, const char* name, dcmi::Code code) {
    if (code == dcmi::kSuccess) return true;
    if (dcmi::is_transient(code)) mark_unanswered(fact);
    if (code == dcmi::kTimeout) ++timeouts_;
    const bool news = code != dcmi::kFunctionNotFound && code != dcmi::kNotSupported;
    if (news && out_.notes.size() < kMaxNotes) {
      out_.notes.push_back(std::string(name) + ": " + dcmi_code_text(code));
    }
    return false;
  }

  void mark_unanswered(DcmiFact fact) {
    (fact <= DcmiFact::hccs ? out_.sample.unanswered : out_.unanswered).insert(fact);
  }

  void note(const std::string& text) {
    if (out_.notes.size() < kMaxNotes) out_.notes.push_back(text);
  }

  // Not made once the device has let enough calls time out: the rest would, too, one after another.
  template <class Call>
  bool ask(DcmiFact fact, const char* name, const Call& call) {
    if (timeouts_ < kMaxTimeouts) return worked(fact, name, call());
    mark_unanswered(fact);
    return false;
  }

  template <class Entry, class... A>
  bool call(DcmiFact fact, const Entry& entry, A... arguments) {
    return ask(fact, entry.name(at_), [&] { return entry(at_, arguments...); });
  }

  // A device that the driver does not know is gone. One for which it has no answer yet is not.
  void read_health() {
    std::uint32_t health = 0;
    out_.sample.answer = f_.health(at_, &health);
    if (!worked(DcmiFact::health, f_.health.name(at_), out_.sample.answer)) {
      out_.sample.gone =
          out_.sample.answer == dcmi::kNotPresent || out_.sample.answer == dcmi::kInvalidId;
    } else if (health == dcmi::kNone) {
      out_.sample.gone = true;
    } else if (health <= dcmi::kHealthCritical) {
      out_.sample.health = health;
    } else {
      note(std::string(f_.health.name(at_)) + ": unknown health " + std::to_string(health));
    }
  }

  void read_sample() {
    read_health();
    if (out_.sample.gone) return;
    int network = -1;
    if (call(DcmiFact::network, f_.network_health, &network)) {
      if (network >= 0 && network < dcmi::kNetworkStates) {
        out_.sample.network = network;
      } else {
        note(std::string(f_.network_health.name(at_)) + ": unknown state " +
             std::to_string(network));
      }
    }
    read_errors();
    dcmi::HccsStatus hccs{};
    unsigned size = sizeof hccs;
    if (call(DcmiFact::hccs, f_.info, dcmi::kHccs, dcmi::kHccsStatus, static_cast<void*>(&hccs),
             &size)) {
      out_.sample.pcs = hccs.pcs;
      out_.sample.hdlc = hccs.hdlc;
    }
  }

  void read_errors() {
    std::array<unsigned, dcmi::kMaxErrorCodes> codes{};
    int count = 0;
    if (!call(DcmiFact::errors, f_.errors, &count, codes.data(), dcmi::kMaxErrorCodes)) return;
    constexpr int kMaxCodes = static_cast<int>(dcmi::kMaxErrorCodes);
    if (count < 0 || count > kMaxCodes) {
      note(std::string(f_.errors.name(at_)) + ": counts " + std::to_string(count) + " codes");
    }
    auto& errors = out_.sample.errors;
    errors.assign(codes.begin(), codes.begin() + std::clamp(count, 0, kMaxCodes));
    std::sort(errors.begin(), errors.end());
    errors.erase(std::unique(errors.begin(), errors.end()), errors.end());
  }

  // An invalid device number stays unknown.
  std::optional<int> id(const char* name, std::int64_t value) {
    if (value >= 0 && value <= limits::kMaxChipIndex) return static_cast<int>(value);
    note(std::string(name) + ": device number " + std::to_string(value));
    return std::nullopt;
  }

  void read_ids() {
    unsigned physical = 0;
    if (at_.flat) {
      out_.logic_id = at_.device;
      const auto& get_id = f_.flat_physical_id;
      if (ask(DcmiFact::physical_id, get_id.name,
              [&] { return get_id(static_cast<unsigned>(at_.device), &physical); })) {
        out_.physical_id = id(get_id.name, physical);
      }
    } else {
      int logic = -1;
      if (ask(DcmiFact::logic_id, f_.logic_id.name,
              [&] { return f_.logic_id(&logic, at_.card, at_.device); })) {
        out_.logic_id = id(f_.logic_id.name, logic);
      }
      const auto& get_id = f_.physical_id;
      if (out_.unanswered.contains(DcmiFact::logic_id)) {
        mark_unanswered(DcmiFact::physical_id);
      } else if (out_.logic_id && ask(DcmiFact::physical_id, get_id.name, [&] {
                   return get_id(static_cast<unsigned>(*out_.logic_id), &physical);
                 })) {
        out_.physical_id = id(get_id.name, physical);
      }
    }
  }

  void read_chip() {
    dcmi::ChipInfo chip{};
    if (call(DcmiFact::chip, f_.chip_info, &chip)) {
      out_.chip_type = dcmi_text(chip.chip_type, sizeof chip.chip_type);
      out_.chip_name = dcmi_text(chip.chip_name, sizeof chip.chip_name);
      out_.npu_name = dcmi_text(chip.npu_name, sizeof chip.npu_name);
      if (chip.ai_cores > 0 && chip.ai_cores <= kMaxAiCores) {
        out_.ai_cores = static_cast<int>(chip.ai_cores);
      }
    }
    dcmi::BoardInfo board{};
    if (call(DcmiFact::board, f_.board_info, &board)) out_.board = board.board;
  }

  void read_error_texts() {
    for (const std::uint32_t code : out_.sample.errors) {
      out_.errors.push_back({code, at_.flat ? "" : error_text(code)});
    }
  }

  // "" where the driver has none: a missing text says nothing about the device.
  std::string error_text(std::uint32_t code) {
    if (timeouts_ == kMaxTimeouts) return "";
    std::array<unsigned char, dcmi::kErrorTextBytes> text{};
    const dcmi::Code answer =
        f_.error_text(at_.card, at_.device, code, text.data(), dcmi::kErrorTextBytes);
    if (answer == dcmi::kTimeout) ++timeouts_;
    if (answer != dcmi::kSuccess) return "";
    return dcmi_text(reinterpret_cast<const char*>(text.data()), text.size());
  }

  // IPv6 is read if there is no IPv4 address.
  void read_addresses() {
    if (at_.flat) return;
    for (const int type : {dcmi::kIpv4, dcmi::kIpv6}) {
      dcmi::IpAddress address{};
      dcmi::IpAddress mask{};
      address.type = mask.type = type;
      if (!ask(DcmiFact::addresses, f_.ip.name,
               [&] { return f_.ip(at_.card, at_.device, dcmi::kPortRoce, 0, &address, &mask); })) {
        return;
      }
      const std::string text = address_text(address, type == dcmi::kIpv6);
      if (text.empty()) continue;
      out_.addresses.push_back(text);
      return;
    }
  }

  void read_super_pod() {
    dcmi::SuperPodInfo info{};
    unsigned size = sizeof info;
    if (!call(DcmiFact::super_pod, f_.info, dcmi::kChipInfo, dcmi::kChipInfoSuperPod,
              static_cast<void*>(&info), &size)) {
      return;
    }
    DcmiSuperPod pod;
    if (info.sdid != dcmi::kNone) pod.sdid = info.sdid;
    pod.size = number_or_none(info.size);
    pod.id = number_or_none(info.id);
    pod.server_index = number_or_none(info.server_index);
    pod.type = number_or_none(info.type);
    out_.super_pod = pod;
  }

  void read_counters() {
    dcmi::HccsCounters counters{};
    unsigned size = sizeof counters;
    if (!call(DcmiFact::counters, f_.info, dcmi::kHccs, dcmi::kHccsCounters,
              static_cast<void*>(&counters), &size)) {
      return;
    }
    for (std::size_t pcs = 0; pcs < dcmi::kMaxPcs; ++pcs) {
      const bool used = counters.sent[pcs] > 0 || counters.received[pcs] > 0;
      const DcmiPcsCounters of{static_cast<int>(pcs), counters.crc_errors[pcs],
                               counters.retries[pcs]};
      if (used || of.crc_errors > 0 || of.retries > 0) out_.counters.push_back(of);
    }
  }

  void read_cpus() {
    if (at_.flat) return;
    std::array<char, dcmi::kCpuListBytes> text{};
    int length = dcmi::kCpuListBytes;
    if (ask(DcmiFact::cpus, f_.cpus.name,
            [&] { return f_.cpus(at_.card, at_.device, text.data(), &length); })) {
      out_.cpus = dcmi_text(text.data(), text.size());
    }
  }

  const DcmiFunctions& f_;
  DcmiPlace at_;
  DcmiDevice out_;
  int timeouts_ = 0;
};

}  // namespace

DcmiSample read_dcmi_sample(const DcmiLibrary& library, const DcmiPlace& place) {
  return DeviceReader(library, place).sample();
}

DcmiDevice read_dcmi_device(const DcmiLibrary& library, const DcmiPlace& place) {
  return DeviceReader(library, place).device();
}

}  // namespace chipweave::agent
