#include "common/domain/link_rates.hpp"

#include "common/base/text.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace chipweave::domain {
namespace {

// The known rates of a model.
struct ModelRates {
  std::string_view word;  // found in the upper-cased model
  int pcie;               // generation of its own port; 0: as for an unknown model
  LinkKind kind;          // of its fast links
  double gbps;            // of one lane; 0: it has no fast links, or their rate is not known
  double reduction = 0;   // in_switch_reduction()
};

// Of in-switch reduction, NCCL's nvlsEfficiency (src/graph/tuning.cc).
constexpr double kHopper = 0.85;
constexpr double kBlackwell = 0.74;

// First match wins, so the longer words come first.
constexpr std::array<ModelRates, 40> kModels = {{
    {"GB200", 5, LinkKind::nvlink, 40.1, kBlackwell},
    {"GB300", 5, LinkKind::nvlink, 40.1, kBlackwell},
    {"B200", 5, LinkKind::nvlink, 40.1, kBlackwell},
    {"B300", 5, LinkKind::nvlink, 40.1, kBlackwell},
    {"B100", 5, LinkKind::nvlink, 40.1, kBlackwell},
    {"GH200", 5, LinkKind::nvlink, 20.6, kHopper},
    {"H100", 5, LinkKind::nvlink, 20.6, kHopper},
    {"H200", 5, LinkKind::nvlink, 20.6, kHopper},
    {"H800", 5, LinkKind::nvlink, 20.6, kHopper},
    {"H20", 5, LinkKind::nvlink, 20.6, kHopper},
    {"A100", 4, LinkKind::nvlink, 20.0},
    {"A800", 4, LinkKind::nvlink, 20.0},
    {"A30", 4, LinkKind::nvlink, 20.0},
    {"V100", 0, LinkKind::nvlink, 20.0},
    {"P100", 0, LinkKind::nvlink, 18.0},
    {"A40", 4, LinkKind::nvlink, 12.0},
    {"A6000", 4, LinkKind::nvlink, 12.0},
    {"A5000", 4, LinkKind::nvlink, 12.0},
    {"A10", 4, LinkKind::nvlink, 12.0},
    {"3090", 4, LinkKind::nvlink, 12.0},
    {"4090", 4, LinkKind::nvlink, 0},
    {"L40", 4, LinkKind::nvlink, 0},
    {"L4", 4, LinkKind::nvlink, 0},
    {"MI300A", 5, LinkKind::xgmi, 48.0},
    {"MI300", 5, LinkKind::xgmi, 48.0},
    {"MI308", 5, LinkKind::xgmi, 48.0},
    {"MI325", 5, LinkKind::xgmi, 48.0},
    {"MI350", 5, LinkKind::xgmi, 57.6},
    {"MI355", 5, LinkKind::xgmi, 57.6},
    {"MI200", 4, LinkKind::xgmi, 36.0},
    {"MI210", 4, LinkKind::xgmi, 36.0},
    {"MI250", 4, LinkKind::xgmi, 36.0},
    {"MI100", 4, LinkKind::xgmi, 36.0},
    {"GFX942", 5, LinkKind::xgmi, 48.0},
    {"GFX950", 5, LinkKind::xgmi, 57.6},
    {"GFX90A", 4, LinkKind::xgmi, 36.0},
    {"GFX908", 4, LinkKind::xgmi, 36.0},
    {"VEGA20", 0, LinkKind::xgmi, 36.0},
    {"MI60", 0, LinkKind::xgmi, 36.0},
    {"ASCEND910A", 0, LinkKind::hccs, 24.0},
}};

// Known models whose links have the rates of their kind.
constexpr std::array<std::string_view, 14> kOtherModels = {
    "910A",     "910B", "910C", "910", "310P",   "310",    "950",
    "ATLAS350", "C550", "C500", "T4",  "VEGA10", "GFX906", "MI50"};

const ModelRates* known_model(std::string_view model) {
  const std::string name = upper_case(model);
  const auto* const row =
      std::find_if(kModels.begin(), kModels.end(),
                   [&name](const ModelRates& m) { return name.find(m.word) != std::string::npos; });
  return row == kModels.end() ? nullptr : row;
}

double unknown_model_rate(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
    case LinkKind::nvswitch:
      return 20;
    case LinkKind::xgmi:
    case LinkKind::ub:
    case LinkKind::metaxlink:
      return 50;
    case LinkKind::hccs:
      return 28;
    case LinkKind::sio:
      return 200;
    case LinkKind::self:
    case LinkKind::board:
    case LinkKind::pix:
    case LinkKind::pxb:
    case LinkKind::phb:
    case LinkKind::node:
    case LinkKind::sys:
      return 0;
  }
  return 0;
}

}  // namespace

double default_gbps_per_lane(LinkKind kind, std::string_view model) {
  const ModelRates* known = known_model(model);
  const LinkKind family = kind == LinkKind::nvswitch ? LinkKind::nvlink : kind;
  if (known != nullptr && known->kind == family && known->gbps > 0) return known->gbps;
  return unknown_model_rate(kind);
}

std::string_view known_model_word(std::string_view model) {
  const ModelRates* known = known_model(model);
  return known == nullptr ? std::string_view{} : known->word;
}

const std::vector<std::string_view>& known_models() {
  static const std::vector<std::string_view> kAll = [] {
    std::vector<std::string_view> out;
    out.reserve(kModels.size() + kOtherModels.size());
    for (const ModelRates& each : kModels) out.push_back(each.word);
    out.insert(out.end(), kOtherModels.begin(), kOtherModels.end());
    return out;
  }();
  return kAll;
}

bool is_known_model(std::string_view model) {
  const std::string name = upper_case(model);
  const auto is_digit = [&](std::size_t at) {
    return at < name.size() && name[at] >= '0' && name[at] <= '9';
  };
  return std::any_of(known_models().begin(), known_models().end(), [&](std::string_view word) {
    const std::size_t at = name.find(word);  // not inside another number
    return at != std::string::npos && !is_digit(at + word.size()) && (at == 0 || !is_digit(at - 1));
  });
}

double in_switch_reduction(std::string_view model) {
  const ModelRates* known = known_model(model);
  return known == nullptr ? 0 : known->reduction;
}

HostBandwidth pcie_host_bandwidth(int generation, bool intel) {
  // NCCL: x16 gives 12, 24, 48, 96 GB/s for generations 3..6; between sockets Skylake 10, Sapphire
  // Rapids 22, AMD 16, of which the last is too low for gen4 platforms (20.4 measured,
  // docs/concepts/bandwidth-model.md).
  const double port = generation <= 3 ? 12 : (generation == 4 ? 24 : (generation == 5 ? 48 : 96));
  const double local = intel ? port * 5 / 6 : port;
  const double cross = intel ? (generation <= 3 ? 10 : 22) : (generation <= 3 ? 12 : 20);
  HostBandwidth out;
  out.board = out.pix = out.pxb = port;
  out.phb = out.node = local;
  out.sys = std::min(local, cross);
  return out;
}

HostBandwidth default_host_bandwidth(std::string_view model) {
  const ModelRates* known = known_model(model);
  return known == nullptr || known->pcie == 0 ? HostBandwidth{}
                                              : pcie_host_bandwidth(known->pcie, false);
}

}  // namespace chipweave::domain
