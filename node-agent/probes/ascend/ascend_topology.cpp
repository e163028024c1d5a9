#include "node-agent/probes/ascend/ascend_topology.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/codec/topology/hardware/ascend_links.hpp"
#include "common/domain/ascend_family.hpp"
#include "common/domain/rule_guess.hpp"
#include "common/domain/topology_builder.hpp"
#include "node-agent/probes/unknown_identity.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using domain::PlacementRule;
using domain::RuleKind;

// As npu-smi prints it; "" for a value without meaning on that generation.
std::string_view word_of(int type, AscendGeneration generation) {
  switch (type) {
    case dcmi::kTopoSys:
      return "SYS";
    case dcmi::kTopoPhb:
      return "PHB";
    case dcmi::kTopoHccs:
      return "HCCS";
    case dcmi::kTopoPxb:
      return "PXB";
    case dcmi::kTopoPix:
      return "PIX";
    case dcmi::kTopoSio:
      return generation == AscendGeneration::a3 ? "SIO" : "";
    case dcmi::kTopoHccsSwitch:
      return "HCCS_SW";
    case dcmi::kTopoUb:
      return "UB";
    default:
      return "";
  }
}

// "card-3-0", "device-5".
std::string place_text(const DcmiPlace& place) {
  return place.flat ? "device-" + std::to_string(place.device)
                    : "card-" + std::to_string(place.card) + "-" + std::to_string(place.device);
}

class Assembly {
 public:
  Assembly(const DcmiSnapshot& snapshot, AscendGeneration generation, const AscendPlaces& places,
           codec::Warnings& warnings)
      : snapshot_(snapshot), generation_(generation), places_(places), warnings_(warnings) {
    for (const int index : chip_indices(snapshot)) indices_.push_back(ChipIndex{index});
  }

  Result<domain::NodeTopology> run() {
    if (snapshot_.devices.empty()) return make_error(Errc::not_found, "DCMI lists no NPU");
    builder_.vendor = "ascend";
    builder_.model = model_of(generation_);
    builder_.host_bandwidth = host_bandwidth_of(generation_);
    for (std::size_t i = 0; i < snapshot_.devices.size(); ++i) add_chip(i);
    for (const DcmiPair& pair : snapshot_.pairs) add_pair(pair);
    add_switches();
    builder_.rule = rule();
    builder_.super_pod = super_pod();
    warn();
    Result<domain::NodeTopology> topology = std::move(builder_).build();
    if (topology && !rule_known_) warn_of_rule(*topology);
    return topology;
  }

 private:
  static std::size_t at(int position) { return static_cast<std::size_t>(position); }
  std::string name(std::size_t i) const { return "NPU " + std::to_string(indices_[i].value); }

  void add_chip(std::size_t i) {
    const DcmiDevice& device = snapshot_.devices[i];
    domain::Chip chip;
    chip.index = indices_[i];
    if (!device.physical_id) {
      chip.id = domain::chip_id_by_place(place_text(device.sample.place));
    } else if (const auto prefix = chip_prefix(generation_); !prefix.empty()) {
      chip.id = std::string(prefix) + "-" + std::to_string(chip.index.value);
    }
    chip.model = device.chip_name;
    chip.numa = places_.numa[i];
    chip.device_ips = places_.addresses[i];
    chip.physical_id = device.physical_id;
    chip.logical_id = device.logic_id;
    if (device.super_pod) chip.super_device_id = device.super_pod->sdid;
    if (!device.physical_id)
      warnings_.add(chip.id +
                    " has an arbitrary number here: the driver has no physical id for it");
    builder_.add_chip(std::move(chip));
  }

  // The host path of chips for which the driver names a fast link or nothing.
  LinkKind hidden_path(std::size_t a, std::size_t b) const {
    return places_.numa[a] >= 0 && places_.numa[a] == places_.numa[b] ? LinkKind::node
                                                                      : LinkKind::sys;
  }

  bool on_one_card(std::size_t a, std::size_t b) const {
    const DcmiPlace& one = snapshot_.devices[a].sample.place;
    const DcmiPlace& other = snapshot_.devices[b].sample.place;
    return !one.flat && !other.flat && one.card == other.card;
  }

  void add_pair(const DcmiPair& pair) {
    const std::size_t a = at(pair.a);
    const std::size_t b = at(pair.b);
    const std::string_view word = word_of(pair.type, generation_);
    const auto path = codec::ascend_host_path(word);
    // The two chips of a 310P Duo, and the four of a 310 card, share the bridge of the card.
    const bool board = on_one_card(a, b) && generation_ != AscendGeneration::a3;
    builder_.add_link(indices_[a], indices_[b],
                      board ? LinkKind::board : path.value_or(hidden_path(a, b)));
    if (codec::is_ascend_switched(word)) {
      switched_[{pair.a, pair.b}] = true;
    } else if (const auto kind = codec::ascend_direct_link(word)) {
      builder_.add_link(indices_[a], indices_[b], *kind);
      direct_ = true;
    } else if (!path && !board) {
      unknown_ += (unknown_.empty() ? "" : ", ") + std::to_string(indices_[a].value) + "-" +
                  std::to_string(indices_[b].value);
    }
  }

  void add_switches() {
    codec::add_hccs_switches(builder_, indices_, [this](std::size_t i, std::size_t k) {
      return switched_.contains({static_cast<int>(i), static_cast<int>(k)});
    });
  }

  // Only if the indices of a card are consecutive, "index / size" is the card.
  bool numbered_by_card(int size) const {
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      for (std::size_t k = i + 1; k < indices_.size(); ++k) {
        const bool together = indices_[i].value / size == indices_[k].value / size;
        if (together != on_one_card(i, k)) return false;
      }
    }
    return true;
  }

  // nullopt: derive it from the wiring.
  std::optional<PlacementRule> rule() {
    const int places = std::max_element(indices_.begin(), indices_.end())->value + 1;
    const int size = snapshot_.devices_per_card;
    switch (generation_) {
      case AscendGeneration::a910:
        if (!direct_ || places > 8) return std::nullopt;
        return known({places <= 4 ? RuleKind::ascend_910a_half : RuleKind::ascend_910a_module, 4});
      case AscendGeneration::a2:
        if (!direct_ || places > 16) return std::nullopt;
        return known(places <= 8 ? PlacementRule{} : PlacementRule{RuleKind::ascend_910b_16, 8});
      case AscendGeneration::a3:
        return known({RuleKind::ascend_a3, 2});
      case AscendGeneration::i310:
        if (size < 2 || !numbered_by_card(size)) return std::nullopt;
        return known({RuleKind::ascend_310_chip, size});
      case AscendGeneration::i310p:
        if (size < 2 || !numbered_by_card(size)) return std::nullopt;
        return known({RuleKind::ascend_310p_chip, size});
      case AscendGeneration::a5:
      case AscendGeneration::unknown:
        return std::nullopt;
    }
    return std::nullopt;
  }

  PlacementRule known(PlacementRule rule) {
    rule_known_ = true;
    return rule;
  }

  // The super pod of the whole machine. One without a number is left out: machines without a number
  // need not be in the same super pod.
  std::optional<domain::SuperPod> super_pod() {
    std::optional<domain::SuperPod> out;
    for (std::size_t i = 0; i < snapshot_.devices.size(); ++i) {
      const auto& pod = snapshot_.devices[i].super_pod;
      if (!pod || pod->id < 0) continue;
      const domain::SuperPod one{std::to_string(pod->id), pod->server_index};
      if (!out) out = one;
      if (out->id == one.id && out->server_index == one.server_index) continue;
      warnings_.add(name(i) + " reports server " + std::to_string(one.server_index) +
                    " of super pod " + one.id + ", another NPU server " +
                    std::to_string(out->server_index) + " of " + out->id);
    }
    return out;
  }

  void warn() {
    if (generation_ == AscendGeneration::unknown) {
      warnings_.add(
          "the driver does not report the Ascend generation: links are at "
          "default rates");
    }
    if (snapshot_.pairs.empty() && snapshot_.devices.size() > 1) {
      warnings_.add(
          "the driver does not report links between its NPUs: none are assumed; set "
          "--probe profile:NAME or file:PATH if this machine has links");
    }
    if (!unknown_.empty()) {
      warnings_.add("unknown connection between these chips, taken as SYS or NODE: " +
                    std::string(shortened(unknown_, 200)));
    }
  }

  void warn_of_rule(const domain::NodeTopology& topology) {
    if (domain::guess_rule(topology).certain) return;
    const std::string kind(to_string(topology.rule().kind));
    warnings_.add("these NPUs and links do not match a known machine: the placement rule " + kind +
                  " is assumed");
  }

  const DcmiSnapshot& snapshot_;
  AscendGeneration generation_;
  const AscendPlaces& places_;
  codec::Warnings& warnings_;
  domain::TopologyBuilder builder_;
  std::vector<ChipIndex> indices_;
  std::map<std::pair<int, int>, bool> switched_;
  std::string unknown_;
  bool direct_ = false;  // there are direct links
  bool rule_known_ = false;
};

}  // namespace

std::vector<int> chip_indices(const DcmiSnapshot& snapshot) {
  std::set<int> taken;
  for (const DcmiDevice& device : snapshot.devices) {
    if (device.physical_id) taken.insert(*device.physical_id);
  }
  std::vector<int> out;
  for (const DcmiDevice& device : snapshot.devices) {
    int index = device.physical_id.value_or(static_cast<int>(out.size()));
    if (!device.physical_id && taken.contains(index)) {
      for (index = 0; taken.contains(index);) ++index;
    }
    taken.insert(index);
    out.push_back(index);
  }
  return out;
}

Result<domain::NodeTopology> topology_of(const DcmiSnapshot& snapshot, AscendGeneration generation,
                                         const AscendPlaces& places,
                                         std::vector<std::string>& warnings) {
  codec::Warnings found;
  auto topology = Assembly(snapshot, generation, places, found).run();
  for (std::string& text : std::move(found).list()) warnings.push_back(std::move(text));
  return topology;
}

}  // namespace chipweave::agent
