#include "common/domain/link_rates.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace chipweave::domain {
namespace {

struct ModelRate {
  std::string_view word;  // found in the upper-cased model
  LinkKind kind;
  double gbps;
};

// First match wins, so the longer words come first.
constexpr std::array<ModelRate, 33> kLaneRates = {{
    {"GB200", LinkKind::nvlink, 40.1},    {"GB300", LinkKind::nvlink, 40.1},
    {"B200", LinkKind::nvlink, 40.1},     {"B300", LinkKind::nvlink, 40.1},
    {"B100", LinkKind::nvlink, 40.1},     {"GH200", LinkKind::nvlink, 20.6},
    {"H100", LinkKind::nvlink, 20.6},     {"H200", LinkKind::nvlink, 20.6},
    {"H800", LinkKind::nvlink, 20.6},     {"H20", LinkKind::nvlink, 20.6},
    {"A100", LinkKind::nvlink, 20.0},     {"A800", LinkKind::nvlink, 20.0},
    {"A30", LinkKind::nvlink, 20.0},      {"V100", LinkKind::nvlink, 20.0},
    {"P100", LinkKind::nvlink, 18.0},     {"A40", LinkKind::nvlink, 12.0},
    {"A6000", LinkKind::nvlink, 12.0},    {"A5000", LinkKind::nvlink, 12.0},
    {"A10", LinkKind::nvlink, 12.0},      {"3090", LinkKind::nvlink, 12.0},
    {"MI300A", LinkKind::xgmi, 48.0},     {"MI300", LinkKind::xgmi, 48.0},
    {"MI308", LinkKind::xgmi, 48.0},      {"MI325", LinkKind::xgmi, 48.0},
    {"MI350", LinkKind::xgmi, 57.6},      {"MI355", LinkKind::xgmi, 57.6},
    {"MI200", LinkKind::xgmi, 36.0},      {"MI210", LinkKind::xgmi, 36.0},
    {"MI250", LinkKind::xgmi, 36.0},      {"MI100", LinkKind::xgmi, 36.0},
    {"GFX942", LinkKind::xgmi, 48.0},     {"GFX90A", LinkKind::xgmi, 36.0},
    {"ASCEND910A", LinkKind::hccs, 24.0},
}};

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
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
  const std::string name = upper(model);
  const LinkKind family = kind == LinkKind::nvswitch ? LinkKind::nvlink : kind;
  for (const ModelRate& row : kLaneRates) {
    if (row.kind == family && name.find(row.word) != std::string::npos) return row.gbps;
  }
  return unknown_model_rate(kind);
}

HostBandwidth pcie_host_bandwidth(int generation, bool intel) {
  // NCCL: x16 gives 12, 24, 48, 96 GB/s for generations 3..6; between sockets Skylake 10, Sapphire
  // Rapids 22, AMD 16, of which the last is too low for gen4 platforms (20.4 measured,
  // docs/bandwidth-model.md).
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
  const std::string name = upper(model);
  const auto any = [&name](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&name](std::string_view w) { return name.find(w) != std::string::npos; });
  };
  if (any({"H100", "H200", "H800", "H20", "B200", "B100", "B300", "GB200", "MI300", "MI325",
           "MI350"})) {
    return pcie_host_bandwidth(5, false);
  }
  if (any({"A100", "A800", "A30", "A40", "A6000", "A10", "L40", "L4", "MI250", "MI210", "MI200",
           "4090", "3090"})) {
    return pcie_host_bandwidth(4, false);
  }
  return HostBandwidth{};
}

PlacementRule infer_rule(const NodeTopology& t) {
  if (t.vendor() != "ascend") return {};
  const int n = t.chip_count();
  const auto has = [&t](LinkKind kind) {
    return std::any_of(t.links().begin(), t.links().end(),
                       [kind](const DirectLink& l) { return l.kind == kind; });
  };
  // Whether exactly the pairs inside groups of `size` consecutive indices carry `kind`.
  const auto grouped = [&t, n](LinkKind kind, int size) {
    for (int a = 0; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) {
        const bool inside = t.chip(a).index.value / size == t.chip(b).index.value / size;
        const DirectLink* l = t.link(a, b);
        if ((l != nullptr && l->kind == kind) != inside) return false;
      }
    }
    return true;
  };
  if (has(LinkKind::sio)) return {RuleKind::ascend_a3, 2};
  if (has(LinkKind::hccs)) {
    if (n == 16 && grouped(LinkKind::hccs, 8)) return {RuleKind::ascend_910b_16, 8};
    if (n == 8 && grouped(LinkKind::hccs, 4)) return {RuleKind::ascend_910a_module, 4};
  }
  if (has(LinkKind::ub) && n % 4 == 0 && grouped(LinkKind::ub, 4))
    return {RuleKind::ascend_a5_mesh4, 4};
  return {};
}

}  // namespace chipweave::domain
