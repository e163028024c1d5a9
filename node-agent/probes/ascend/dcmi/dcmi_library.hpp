// DcmiLibrary — the driver's libdcmi.so, loaded and initialised.
//
// Drivers up to A3 have functions that take a card and a device on it; those of A5 may have only
// the flat family dcmiv2_*, which takes one number. Each function is looked up separately; one that
// the driver lacks returns kFunctionNotFound, so that an old driver costs one fact and not the
// probe. Calls may block or crash. The library is never unloaded: it has no shutdown function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_abi.hpp"

namespace chipweave::agent {

// How the driver addresses a device.
struct DcmiPlace {
  bool flat = false;
  int card = 0;  // unused in the flat family
  int device = 0;
  friend bool operator==(const DcmiPlace&, const DcmiPlace&) = default;
};

template <class F>
struct DcmiCall {
  F* function = nullptr;
  const char* name = "";

  template <class... A>
  dcmi::Code operator()(A... arguments) const {
    return function == nullptr ? dcmi::kFunctionNotFound : function(arguments...);
  }
};

// One function about a device, in both families.
template <class F, class Flat>
struct DcmiQuestion {
  DcmiCall<F> by_card;
  DcmiCall<Flat> by_number;

  template <class... A>
  dcmi::Code operator()(const DcmiPlace& at, A... arguments) const {
    return at.flat ? by_number(at.device, arguments...) : by_card(at.card, at.device, arguments...);
  }
  const char* name(const DcmiPlace& at) const { return at.flat ? by_number.name : by_card.name; }
};

struct DcmiFunctions {
  DcmiCall<dcmi::GetVersion> driver_version;
  DcmiCall<dcmi::GetCards> cards;
  DcmiCall<dcmi::FlatGetDevices> devices;  // of the flat family
  DcmiCall<dcmi::GetIds> ids_in_card;
  DcmiCall<dcmi::GetCount> devices_in_card;
  DcmiCall<dcmi::GetLogicId> logic_id;
  DcmiCall<dcmi::GetPhysicalId> physical_id;
  DcmiCall<dcmi::FlatGetPhysicalId> flat_physical_id;
  DcmiQuestion<dcmi::GetNumber, dcmi::FlatGetNumber> health;
  DcmiQuestion<dcmi::GetInt, dcmi::FlatGetInt> network_health;
  DcmiQuestion<dcmi::GetErrors, dcmi::FlatGetErrors> errors;
  DcmiCall<dcmi::GetErrorText> error_text;
  DcmiCall<dcmi::GetIp> ip;
  DcmiQuestion<dcmi::GetChipInfo, dcmi::FlatGetChipInfo> chip_info;
  DcmiQuestion<dcmi::GetBoardInfo, dcmi::FlatGetBoardInfo> board_info;
  DcmiQuestion<dcmi::GetInfo, dcmi::FlatGetInfo> info;
  DcmiCall<dcmi::GetTopo> topo;
  DcmiCall<dcmi::FlatGetTopo> flat_topo;
  DcmiCall<dcmi::GetCpus> cpus;
  // For measurements; a driver that lacks one of these lacks a value, which is not reported.
  DcmiQuestion<dcmi::GetInt, dcmi::FlatGetInt> temperature;
  DcmiQuestion<dcmi::GetInt, dcmi::FlatGetInt> power;  // tenths of a watt
  DcmiQuestion<dcmi::GetOf, dcmi::FlatGetOf> utilization;
  DcmiQuestion<dcmi::GetOf, dcmi::FlatGetOf> frequency;  // MHz
  DcmiQuestion<dcmi::GetHbm, dcmi::FlatGetHbm> hbm;
  DcmiQuestion<dcmi::GetEcc, dcmi::FlatGetEcc> ecc;
  DcmiCall<dcmi::GetHccsBandwidth> hccs_bandwidth;  // A5 has UB instead of HCCS
  DcmiQuestion<dcmi::Subscribe, dcmi::FlatSubscribe> subscribe;
};

class DcmiLibrary {
 public:
  // Paths to try: `path` alone if given; else the loader's search path and the places where drivers
  // install the library, below `root` ("": this machine's).
  static std::vector<std::string> places(const std::string& path, const std::string& root);
  // Opens the first that exists. not_found: no driver is installed here, an ordinary state.
  // unavailable: the library cannot be loaded or initialised.
  static Result<DcmiLibrary> open(const std::vector<std::string>& paths);

  DcmiLibrary(DcmiLibrary&&) = default;
  DcmiLibrary& operator=(DcmiLibrary&&) = default;
  DcmiLibrary(const DcmiLibrary&) = delete;
  DcmiLibrary& operator=(const DcmiLibrary&) = delete;
  ~DcmiLibrary() = default;

  const DcmiFunctions& functions() const { return functions_; }
  bool flat() const { return flat_; }
  // Names of functions that this driver lacks.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  explicit DcmiLibrary(void* handle) : handle_(handle) {}
  static Result<DcmiLibrary> load(const std::string& path);
  template <class F>
  void resolve(DcmiCall<F>& call, const char* name, bool wanted);
  template <class F, class Flat>
  void resolve(DcmiQuestion<F, Flat>& question, const char* by_card, const char* by_number);
  void resolve_all();
  void find_measurements();
  template <class F, class Flat>
  void find(DcmiQuestion<F, Flat>& question, const char* by_card, const char* by_number);
  dcmi::Code start();
  bool has_cards() const;
  bool has_devices() const;

  std::unique_ptr<void, Close> handle_;
  bool flat_ = false;
  DcmiFunctions functions_;
  std::vector<std::string> missing_;
};

// "device not present (-8008)".
std::string dcmi_code_text(dcmi::Code code);
// Text in a fixed-size buffer: up to its first zero byte or its end, printable ASCII only, trimmed.
std::string dcmi_text(const char* bytes, std::size_t size);

}  // namespace chipweave::agent
