#include "node-agent/probes/nvidia/nvml/nvml_events.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "common/base/limits.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_query.hpp"

namespace chipweave::agent {
namespace {

using domain::Signal;
using domain::SignalKind;
using std::chrono::milliseconds;

constexpr std::uint64_t kWanted = nvml::kEventXid | nvml::kEventDbe | nvml::kEventSbe;

struct XidName {
  std::uint64_t first;
  std::uint64_t last;
  std::string_view text;
};
// Ascending. Names as NVIDIA's catalogue of XIDs gives them, shortened.
constexpr std::array kXids = {
    XidName{13, 13, "graphics engine exception"},
    XidName{31, 31, "memory page fault"},
    XidName{43, 43, "stopped processing"},
    XidName{45, 45, "preemptive cleanup"},
    XidName{48, 48, "double-bit ECC error"},
    XidName{63, 63, "row remap recorded"},
    XidName{64, 64, "row remap failed"},
    XidName{68, 68, "video exception"},
    XidName{74, 74, "NVLink error"},
    XidName{79, 79, "has fallen off the bus"},
    XidName{92, 92, "high rate of single-bit ECC errors"},
    XidName{94, 94, "contained ECC error"},
    XidName{95, 95, "uncontained ECC error"},
    XidName{109, 109, "context switch timeout"},
    XidName{119, 119, "GSP timeout"},
    XidName{120, 120, "GSP error"},
    XidName{121, 121, "C2C error"},
    XidName{140, 140, "unrecovered ECC error"},
    XidName{143, 143, "initialisation failed"},
    XidName{145, 150, "NVLink 5 error"},
};

Signal event_of(std::string code, std::string text) {
  Signal out;
  out.kind = SignalKind::event;
  out.code = std::move(code);
  out.text = std::move(text);
  return out;
}

// "" for a whole GPU; the older function leaves both instances at their preset 0xffffffff.
std::string event_instance_text(const nvml::EventData& event) {
  if (event.gpu_instance == nvml::kWholeGpu) return "";
  std::string out = "in GPU instance " + std::to_string(event.gpu_instance);
  if (event.compute_instance != nvml::kWholeGpu) {
    out += ", compute instance " + std::to_string(event.compute_instance);
  }
  return out;
}

std::string joined(std::string text, const std::string& more) {
  if (text.empty() || more.empty()) return text + more;
  return std::move(text) + " " + more;
}

}  // namespace

std::string xid_text(std::uint64_t xid) {
  for (const XidName& name : kXids) {
    if (xid >= name.first && xid <= name.last) return std::string(name.text);
  }
  return "";
}

NvmlEvents::NvmlEvents(const NvmlLibrary& library) : library_(library), f_(library.functions()) {
  const nvml::Code code = f_.event_set_create(&set_);
  if (code != nvml::kSuccess || set_ == nullptr) {
    set_ = nullptr;
    warnings_.push_back("this driver has no events (" +
                        (f_.event_set_create.function == nullptr
                             ? std::string("the function is missing")
                             : library_.text_of(code)) +
                        "): XIDs cannot be seen");
    return;
  }
  unsigned count = 0;
  if (f_.count(&count) != nvml::kSuccess) count = 0;
  count = std::min(count, static_cast<unsigned>(limits::kMaxChips));
  sources_.resize(count);
  std::string without;
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device handle = nullptr;
    if (f_.handle_by_index(i, &handle) != nvml::kSuccess || handle == nullptr) continue;
    sources_[i].handle = handle;
    nvml::PciInfo pci{};
    if (f_.pci_info(handle, &pci) == nvml::kSuccess) sources_[i].pci = nvml_bus_id(pci);
    const int before = listening_;
    register_events(static_cast<int>(i), handle);
    if (listening_ == before) without += (without.empty() ? "" : ", ") + std::to_string(i);
  }
  if (!without.empty()) {
    warnings_.push_back("no events from GPU " + without + ": XIDs cannot be seen there");
  }
}

NvmlEvents::~NvmlEvents() {
  if (set_ != nullptr) f_.event_set_free(set_);
}

void NvmlEvents::register_events(int index, nvml::Device handle) {
  std::uint64_t supported = 0;
  if (f_.event_types(handle, &supported) != nvml::kSuccess || (supported & kWanted) == 0) return;
  const nvml::Code code = f_.event_register(handle, supported & kWanted, set_);
  if (code == nvml::kSuccess) {
    ++listening_;
  } else if (code != nvml::kNotSupported) {
    warnings_.push_back("events of GPU " + std::to_string(index) +
                        " cannot be registered: " + library_.text_of(code));
  }
}

void NvmlEvents::wait(milliseconds longest) {
  if (set_ == nullptr || listening_ == 0) {
    std::this_thread::sleep_for(longest);
    return;
  }
  nvml::Code code = receive(longest);
  // Drains pending events, at most as many as are kept.
  for (std::size_t i = 0; i < kMaxKept && code == nvml::kSuccess; ++i)
    code = receive(milliseconds(0));
  if (code == nvml::kSuccess || code == nvml::kTimeout) return;
  // Every further wait would fail at once, and waiting would become spinning.
  keep(event_of("nvml.events-failed", std::string(f_.event_wait.name) + ": " +
                                          library_.text_of(code) + "; polling continues"));
  f_.event_set_free(set_);
  set_ = nullptr;
  failed_ = true;
}

nvml::Code NvmlEvents::receive(milliseconds longest) {
  nvml::EventData event{};
  event.gpu_instance = nvml::kWholeGpu;
  event.compute_instance = nvml::kWholeGpu;
  const auto timeout = static_cast<unsigned>(std::max<std::int64_t>(longest.count(), 0));
  const nvml::Code code = f_.event_wait(set_, &event, timeout);
  if (code == nvml::kSuccess) keep(event);
  return code;
}

void NvmlEvents::keep(const nvml::EventData& event) {
  Signal signal;
  switch (event.type) {
    case nvml::kEventXid:
      signal = event_of("xid." + std::to_string(event.data), xid_text(event.data));
      break;
    case nvml::kEventSbe:
      signal = event_of("nvml.sbe", "single-bit ECC error");
      break;
    case nvml::kEventDbe:
      signal = event_of("nvml.dbe", "double-bit ECC error");
      break;
    default:
      return;  // not registered
  }
  signal.text = joined(std::move(signal.text), event_instance_text(event));
  name_chip(event.device, signal);
  keep(std::move(signal));
}

void NvmlEvents::keep(Signal signal) {
  if (kept_.size() < kMaxKept) {
    kept_.push_back(std::move(signal));
  } else {
    ++dropped_;
  }
}

// No chip, which stands for all of them, if the driver names a device that it does not list.
void NvmlEvents::name_chip(nvml::Device handle, Signal& signal) const {
  if (handle == nullptr) return;
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [handle](const Source& s) { return s.handle == handle; });
  auto index = static_cast<unsigned>(found - sources_.begin());
  if (found == sources_.end() && f_.index(handle, &index) != nvml::kSuccess) return;
  if (index >= sources_.size()) return;
  signal.chip = domain::ChipIndex{static_cast<int>(index)};
  signal.pci = sources_[index].pci;
}

std::vector<Signal> NvmlEvents::take() { return std::exchange(kept_, {}); }

std::vector<std::string> NvmlEvents::take_warnings() {
  if (dropped_ > 0) {
    warnings_.push_back(std::to_string(dropped_) + " events were dropped: more than " +
                        std::to_string(kMaxKept) + " at once");
    dropped_ = 0;
  }
  return std::exchange(warnings_, {});
}

}  // namespace chipweave::agent
