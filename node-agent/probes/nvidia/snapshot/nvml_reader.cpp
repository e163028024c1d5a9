#include "node-agent/probes/nvidia/snapshot/nvml_reader.hpp"

#include <algorithm>
#include <array>

#include "common/base/limits.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_device_reader.hpp"

namespace chipweave::agent {
namespace {

constexpr int kMaxCudaVersion = 1'000'000;  // 999.99
constexpr auto kMaxDevices = static_cast<unsigned>(limits::kMaxChips);

std::optional<domain::LinkKind> path_of_level(int level) {
  using domain::LinkKind;
  switch (level) {
    case nvml::kLevelInternal:
      return LinkKind::board;
    case nvml::kLevelSingle:
      return LinkKind::pix;
    case nvml::kLevelMultiple:
      return LinkKind::pxb;
    case nvml::kLevelHostBridge:
      return LinkKind::phb;
    case nvml::kLevelNode:
      return LinkKind::node;
    case nvml::kLevelSystem:
      return LinkKind::sys;
    default:
      return std::nullopt;
  }
}

class MachineReader {
 public:
  explicit MachineReader(const NvmlLibrary& library) : library_(library) {}

  Result<NvmlSnapshot> run() {
    for (const std::string& name : library_.missing()) {
      out_.notes.push_back("this driver has no " + name);
    }
    read_driver();
    unsigned count = 0;
    const auto& entry = library_.functions().count;
    if (const nvml::Code code = entry(&count); code != nvml::kSuccess) {
      return make_error(Errc::unavailable, std::string("the driver cannot count its devices: ") +
                                               entry.name + ": " + library_.text_of(code));
    }
    if (count > kMaxDevices) {
      out_.notes.push_back("the driver counts " + std::to_string(count) + " devices; at most " +
                           std::to_string(kMaxDevices) + " are read");
      count = kMaxDevices;
    }
    read_devices(count);
    read_pairs();
    return std::move(out_);
  }

 private:
  void read_driver() {
    std::array<char, nvml::kDriverVersionBytes> text{};
    const auto& entry = library_.functions().driver_version;
    const nvml::Code code = entry(text.data(), nvml::kDriverVersionBytes);
    if (code == nvml::kSuccess) {
      out_.driver = nvml_text(text.data(), text.size());
    } else {
      note_failure(entry.name, code);
    }
    int cuda = 0;
    const nvml::Code status = library_.functions().cuda_version(&cuda);
    if (status == nvml::kSuccess && cuda > 0 && cuda < kMaxCudaVersion) out_.cuda = cuda;
  }

  // An index that the driver refuses shows that its count was wrong.
  void read_devices(unsigned count) {
    handles_.reserve(count);
    for (unsigned i = 0; i < count; ++i) {
      nvml::Device handle = nullptr;
      const nvml::Code code = library_.functions().handle_by_index(i, &handle);
      if (code == nvml::kInvalidArgument) {
        out_.notes.push_back("the driver counts " + std::to_string(count) + " devices and has " +
                             std::to_string(i));
        return;
      }
      const bool usable = code == nvml::kSuccess && handle != nullptr;
      handles_.push_back(usable ? handle : nullptr);
      out_.devices.push_back(usable ? read_device(library_, handle, static_cast<int>(i))
                                    : device_without_handle(library_, static_cast<int>(i), code));
    }
  }

  void read_pairs() {
    for (std::size_t a = 0; a < handles_.size(); ++a) {
      for (std::size_t b = a + 1; b < handles_.size(); ++b) {
        if (readable(a) && readable(b)) read_pair(a, b);
      }
    }
  }

  bool readable(std::size_t at) const { return handles_[at] != nullptr && !out_.devices[at].lost; }

  void read_pair(std::size_t a, std::size_t b) {
    int level = -1;
    const auto& entry = library_.functions().common_ancestor;
    const nvml::Code code = entry(handles_[a], handles_[b], &level);
    const std::string which = " of devices " + std::to_string(a) + " and " + std::to_string(b);
    if (code != nvml::kSuccess) {
      if (entry.function != nullptr) note_failure(entry.name + which, code);
      return;
    }
    if (const auto path = path_of_level(level)) {
      out_.pairs.push_back({static_cast<int>(a), static_cast<int>(b), *path});
    } else {
      out_.notes.push_back(entry.name + which + ": unknown level " + std::to_string(level));
    }
  }

  void note_failure(const std::string& what, nvml::Code code) {
    out_.notes.push_back(what + ": " + library_.text_of(code));
  }

  const NvmlLibrary& library_;
  NvmlSnapshot out_;
  std::vector<nvml::Device> handles_;  // by index; null if there is none
};

}  // namespace

Result<NvmlSnapshot> read_nvml(const NvmlLibrary& library) { return MachineReader(library).run(); }

}  // namespace chipweave::agent
