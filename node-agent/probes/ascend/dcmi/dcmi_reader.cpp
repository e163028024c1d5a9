#include "node-agent/probes/ascend/dcmi/dcmi_reader.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "common/base/limits.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_device_reader.hpp"

namespace chipweave::agent {
namespace {

constexpr int kMaxPairTimeouts = 2;

class MachineReader {
 public:
  explicit MachineReader(const DcmiLibrary& library) : library_(library), f_(library.functions()) {}

  Result<DcmiSnapshot> run() {
    out_.flat = library_.flat();
    for (const std::string& name : library_.missing()) {
      out_.notes.push_back("this driver has no " + name);
    }
    read_driver();
    Result<std::vector<DcmiPlace>> places = list();
    if (!places) return std::move(places).error();
    for (const DcmiPlace& place : *places) {
      out_.devices.push_back(read_dcmi_device(library_, place));
    }
    read_pairs();
    return std::move(out_);
  }

  Result<std::vector<DcmiPlace>> list() {
    const bool listed = library_.flat() ? list_devices() : list_cards();
    if (listed) return std::move(places_);
    return make_error(Errc::unavailable, "the driver does not list its devices: " + failure_);
  }

 private:
  void read_driver() {
    std::array<char, dcmi::kVersionBytes> text{};
    const dcmi::Code code = f_.driver_version(text.data(), dcmi::kVersionBytes);
    if (code == dcmi::kSuccess) {
      out_.driver = dcmi_text(text.data(), text.size());
    } else if (code != dcmi::kFunctionNotFound) {
      out_.notes.push_back(std::string(f_.driver_version.name) + ": " + dcmi_code_text(code));
    }
  }

  // The driver's count, cut to the limit.
  int counted(const std::string& what, int count) {
    if (count >= 0 && count <= dcmi::kMaxCards) return count;
    out_.notes.push_back(what + ": the driver counts " + std::to_string(count));
    return std::clamp(count, 0, dcmi::kMaxCards);
  }

  void add(const DcmiPlace& place) {
    if (places_.size() == static_cast<std::size_t>(limits::kMaxChips)) {
      if (!full_) out_.notes.emplace_back("the driver lists more devices than are read");
      full_ = true;
      return;
    }
    places_.push_back(place);
  }

  bool list_devices() {
    std::array<int, dcmi::kMaxCards> numbers{};
    int count = 0;
    const dcmi::Code code = f_.devices(numbers.data(), &count, dcmi::kMaxCards);
    if (code != dcmi::kSuccess) return failed(f_.devices.name, code);
    count = counted(f_.devices.name, count);
    for (const int number : std::set<int>(numbers.begin(), numbers.begin() + count)) {
      if (number >= 0) add({true, 0, number});
    }
    return true;
  }

  bool list_cards() {
    std::array<int, dcmi::kMaxCards> numbers{};
    int count = 0;
    const dcmi::Code code = f_.cards(&count, numbers.data(), dcmi::kMaxCards);
    if (code != dcmi::kSuccess) return failed(f_.cards.name, code);
    count = counted(f_.cards.name, count);
    for (const int card : std::set<int>(numbers.begin(), numbers.begin() + count)) {
      if (card >= 0) list_card(card);
    }
    return true;
  }

  // NPUs of a card have numbers below device_id_max; its MCU and CPU do not.
  void list_card(int card) {
    int most = 0;
    int mcu = -1;
    int cpu = -1;
    const dcmi::Code code = f_.ids_in_card(card, &most, &mcu, &cpu);
    const bool answered = code == dcmi::kSuccess;
    if (!answered) {
      if (code != dcmi::kFunctionNotFound) {
        out_.notes.push_back(f_.ids_in_card.name + of_card(card) + dcmi_code_text(code));
      }
      const dcmi::Code count_code = f_.devices_in_card(card, &most);
      if (count_code != dcmi::kSuccess) {
        // A card that does not answer yet still has its devices.
        const dcmi::Code reason = dcmi::is_transient(code) ? code : count_code;
        if (dcmi::is_transient(reason)) out_.unlisted.emplace(card, reason);
        return;
      }
    }
    most = counted("card " + std::to_string(card), most);
    int npus = 0;
    for (int device = 0; device < most; ++device) {
      if (answered && (device == mcu || device == cpu)) continue;
      // A device without logic id is not an NPU; checked only if the card does not report it.
      int logic = -1;
      const dcmi::Code known = answered ? dcmi::kSuccess : f_.logic_id(&logic, card, device);
      if (dcmi::is_transient(known)) out_.unlisted.emplace(card, known);
      if (known != dcmi::kSuccess) continue;
      add({false, card, device});
      ++npus;
    }
    out_.devices_per_card = std::max(out_.devices_per_card, npus);
  }

  static std::string of_card(int card) { return " of card " + std::to_string(card) + ": "; }

  bool failed(const char* name, dcmi::Code code) {
    failure_ = std::string(name) + ": " + dcmi_code_text(code);
    return false;
  }

  void read_pairs() {
    const int count = static_cast<int>(out_.devices.size());
    for (int a = 0; a < count && !no_topo_; ++a) {
      for (int b = a + 1; b < count && !no_topo_; ++b) {
        if (sample(a).not_responding() || sample(b).not_responding()) {
          out_.pairs_unanswered = true;
        } else if (!sample(a).gone && !sample(b).gone) {
          read_pair(a, b);
        }
      }
    }
  }

  const DcmiSample& sample(int at) const {
    return out_.devices[static_cast<std::size_t>(at)].sample;
  }

  void read_pair(int a, int b) {
    const DcmiPlace& one = sample(a).place;
    const DcmiPlace& other = sample(b).place;
    int type = -1;
    const bool flat = library_.flat();
    const dcmi::Code code = flat ? f_.flat_topo(one.device, other.device, &type)
                                 : f_.topo(one.card, one.device, other.card, other.device, &type);
    const std::string name = flat ? f_.flat_topo.name : f_.topo.name;
    if (code == dcmi::kSuccess) {
      out_.pairs.push_back({a, b, type});
      return;
    }
    // These results concern the machine, not two devices.
    no_topo_ = code == dcmi::kNotSupported || code == dcmi::kFunctionNotFound;
    if (dcmi::is_transient(code)) out_.pairs_unanswered = true;
    // The others would time out, too, one after another.
    if (code == dcmi::kTimeout && ++timeouts_ == kMaxPairTimeouts) no_topo_ = true;
    if (code == dcmi::kFunctionNotFound) return;
    out_.notes.push_back(name + " of devices " + std::to_string(a) + " and " + std::to_string(b) +
                         ": " + dcmi_code_text(code));
  }

  const DcmiLibrary& library_;
  const DcmiFunctions& f_;
  DcmiSnapshot out_;
  std::vector<DcmiPlace> places_;
  std::string failure_;
  bool full_ = false;
  bool no_topo_ = false;  // further calls are useless
  int timeouts_ = 0;
};

}  // namespace

bool DcmiSample::network_bad() const {
  return network && *network != dcmi::kNetworkOk && *network != dcmi::kNetworkInit;
}

bool DcmiSample::hccs_bad() const {
  return pcs && hdlc && (*pcs != dcmi::kPcsOk || *hdlc != dcmi::kHdlcOk);
}

Result<DcmiSnapshot> read_dcmi(const DcmiLibrary& library) { return MachineReader(library).run(); }

Result<std::vector<DcmiSample>> read_dcmi_samples(const DcmiLibrary& library) {
  Result<std::vector<DcmiPlace>> places = MachineReader(library).list();
  if (!places) return std::move(places).error();
  std::vector<DcmiSample> out;
  for (const DcmiPlace& place : *places) out.push_back(read_dcmi_sample(library, place));
  return out;
}

}  // namespace chipweave::agent
