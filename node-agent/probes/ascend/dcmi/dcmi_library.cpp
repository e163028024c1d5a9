#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "common/base/text.hpp"

namespace chipweave::agent {
namespace {

constexpr const char* kName = "libdcmi.so";

std::string load_problem() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
}

const char* advice(dcmi::Code code) {
  if (code == dcmi::kNotInContainer) return "; it must run outside of a container";
  return code == dcmi::kNoPermission ? "; run it as root" : "";
}

}  // namespace

std::string dcmi_text(const char* bytes, std::size_t size) {
  std::string out(bytes, std::find(bytes, bytes + size, '\0'));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return std::string(trim(out));
}

std::string dcmi_code_text(dcmi::Code code) {
  const auto text = [code]() -> const char* {
    switch (code) {
      case dcmi::kInvalidParameter:
        return "invalid parameter";
      case dcmi::kNoPermission:
        return "no permission";
      case dcmi::kTimeout:
        return "timeout";
      case dcmi::kInvalidId:
        return "no such device";
      case dcmi::kNotPresent:
        return "device not present";
      case dcmi::kNotReady:
        return "device not ready";
      case dcmi::kNotInContainer:
        return "not in a container";
      case dcmi::kUpgrading:
        return "device is being upgraded";
      case dcmi::kOccupied:
        return "busy";
      case dcmi::kNotSupported:
        return "not supported";
      case dcmi::kFunctionNotFound:
        return "this driver lacks the function";
      default:
        return "DCMI error";
    }
  };
  return std::string(text()) + " (" + std::to_string(code) + ")";
}

void DcmiLibrary::Close::operator()(void* handle) const { ::dlclose(handle); }

std::vector<std::string> DcmiLibrary::places(const std::string& path, const std::string& root) {
  if (!path.empty()) return {path};
  std::vector<std::string> out;
  if (root.empty()) out.emplace_back(kName);
  for (const char* folder : {"/usr/local/dcmi/", "/usr/local/Ascend/driver/lib64/driver/",
                             "/usr/local/Ascend/driver/lib64/"}) {
    out.push_back(root + folder + kName);
  }
  return out;
}

template <class F>
void DcmiLibrary::resolve(DcmiCall<F>& call, const char* name, bool wanted) {
  void* found = ::dlsym(handle_.get(), name);
  call = {reinterpret_cast<F*>(found), name};
  if (found == nullptr && wanted) missing_.emplace_back(name);
}

template <class F, class Flat>
void DcmiLibrary::resolve(DcmiQuestion<F, Flat>& question, const char* by_card,
                          const char* by_number) {
  resolve(question.by_card, by_card, !flat_);
  resolve(question.by_number, by_number, flat_);
}

template <class F, class Flat>
void DcmiLibrary::find(DcmiQuestion<F, Flat>& question, const char* by_card,
                       const char* by_number) {
  resolve(question.by_card, by_card, false);
  resolve(question.by_number, by_number, false);
}

void DcmiLibrary::find_measurements() {
  DcmiFunctions& f = functions_;
  find(f.temperature, "dcmi_get_device_temperature", "dcmiv2_get_device_temperature");
  find(f.power, "dcmi_get_device_power_info", "dcmiv2_get_device_power_info");
  find(f.utilization, "dcmi_get_device_utilization_rate", "dcmiv2_get_device_utilization_rate");
  find(f.frequency, "dcmi_get_device_frequency", "dcmiv2_get_device_frequency");
  find(f.hbm, "dcmi_get_device_hbm_info", "dcmiv2_get_device_hbm_info");
  find(f.ecc, "dcmi_get_device_ecc_info", "dcmiv2_get_device_ecc_info");
  resolve(f.hccs_bandwidth, "dcmi_get_hccs_link_bandwidth_info", false);
}

void DcmiLibrary::resolve_all() {
  missing_.clear();
  DcmiFunctions& f = functions_;
  resolve(f.driver_version, "dcmi_get_driver_version", !flat_);
  resolve(f.cards, "dcmi_get_card_list", !flat_);
  resolve(f.devices, "dcmiv2_get_device_list", flat_);
  resolve(f.ids_in_card, "dcmi_get_device_id_in_card", !flat_);
  resolve(f.devices_in_card, "dcmi_get_device_num_in_card", !flat_);
  resolve(f.logic_id, "dcmi_get_device_logic_id", !flat_);
  resolve(f.physical_id, "dcmi_get_device_phyid_from_logicid", !flat_);
  resolve(f.flat_physical_id, "dcmiv2_get_chip_phy_id_by_dev_id", flat_);
  resolve(f.health, "dcmi_get_device_health", "dcmiv2_get_device_health");
  resolve(f.network_health, "dcmi_get_device_network_health", "dcmiv2_get_device_network_health");
  resolve(f.errors, "dcmi_get_device_errorcode_v2", "dcmiv2_get_device_error_code_list");
  resolve(f.error_text, "dcmi_get_device_errorcode_string", !flat_);
  resolve(f.ip, "dcmi_get_device_ip", !flat_);
  resolve(f.chip_info, "dcmi_get_device_chip_info_v2", "dcmiv2_get_device_chip_info");
  resolve(f.board_info, "dcmi_get_device_board_info", "dcmiv2_get_device_board_info");
  resolve(f.info, "dcmi_get_device_info", "dcmiv2_get_device_info");
  resolve(f.topo, "dcmi_get_topo_info_by_device_id", !flat_);
  resolve(f.flat_topo, "dcmiv2_get_topo_info_by_device_id", flat_);
  resolve(f.cpus, "dcmi_get_affinity_cpu_info_by_device_id", !flat_);
  find_measurements();
  // Its absence is reported by DcmiEvents.
  find(f.subscribe, "dcmi_subscribe_fault_event", "dcmiv2_subscribe_fault_event");
}

bool DcmiLibrary::has_cards() const {
  std::array<int, dcmi::kMaxCards> cards{};
  int count = 0;
  return functions_.cards(&count, cards.data(), dcmi::kMaxCards) == dcmi::kSuccess && count > 0;
}

bool DcmiLibrary::has_devices() const {
  std::array<int, dcmi::kMaxCards> devices{};
  int count = 0;
  return functions_.devices(devices.data(), &count, dcmi::kMaxCards) == dcmi::kSuccess && count > 0;
}

// A library may have both families and support only one of them on this machine.
dcmi::Code DcmiLibrary::start() {
  DcmiCall<dcmi::Init> by_card;
  DcmiCall<dcmi::Init> by_number;
  resolve(by_card, "dcmi_init", false);
  resolve(by_number, "dcmiv2_init", false);
  resolve_all();
  const dcmi::Code code = by_card();
  if (code == dcmi::kSuccess && has_cards()) return code;
  const dcmi::Code flat_code = by_number();
  if (flat_code != dcmi::kSuccess) {
    return code == dcmi::kFunctionNotFound ? flat_code : code;
  }
  if (code == dcmi::kSuccess && !has_devices()) return code;
  flat_ = true;
  resolve_all();
  return flat_code;
}

Result<DcmiLibrary> DcmiLibrary::load(const std::string& path) {
  ::dlerror();
  void* handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const std::string problem = load_problem();
    // A dependency of the library may be missing, too: then the message starts with its name.
    const bool absent = problem.starts_with(path + ": cannot open shared object file: No such");
    return make_error(absent ? Errc::not_found : Errc::unavailable,
                      absent ? "no Ascend driver here: " + problem
                             : "the Ascend driver's library cannot be loaded: " + problem);
  }
  DcmiLibrary library(handle);
  const dcmi::Code code = library.start();
  if (code != dcmi::kSuccess) {
    return make_error(Errc::unavailable, "DCMI of " + path + " cannot be initialised: " +
                                             dcmi_code_text(code) + advice(code));
  }
  return library;
}

Result<DcmiLibrary> DcmiLibrary::open(const std::vector<std::string>& paths) {
  Error absent = make_error(Errc::not_found, "no Ascend driver here");
  for (const std::string& path : paths) {
    Result<DcmiLibrary> library = load(path);
    if (library || library.error().code != Errc::not_found) return library;
    absent = library.error();
  }
  return absent;
}

}  // namespace chipweave::agent
