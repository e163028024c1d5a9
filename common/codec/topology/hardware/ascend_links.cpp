#include "common/codec/topology/hardware/ascend_links.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;

constexpr int kHccsSwitchLanes = 7;  // of an A3 die
constexpr double kHccsSwitchGbps = 28;

}  // namespace

std::optional<LinkKind> ascend_host_path(std::string_view word) {
  for (const LinkKind k :
       {LinkKind::sys, LinkKind::node, LinkKind::phb, LinkKind::pxb, LinkKind::pix}) {
    if (word == to_string(k)) return k;
  }
  return std::nullopt;
}

std::optional<LinkKind> ascend_direct_link(std::string_view word) {
  for (const LinkKind k : {LinkKind::hccs, LinkKind::sio, LinkKind::ub}) {
    if (word == to_string(k)) return k;
  }
  return std::nullopt;
}

bool is_ascend_switched(std::string_view word) { return word == "HCCS_SW"; }

void add_hccs_switch(domain::TopologyBuilder& builder,
                     const std::vector<domain::ChipIndex>& chips) {
  std::vector<domain::TopologyBuilder::Port> ports;
  ports.reserve(chips.size());
  for (const domain::ChipIndex chip : chips) ports.push_back({chip, kHccsSwitchLanes, 0});
  builder.add_switch("hccs-switch", LinkKind::hccs, std::move(ports), kHccsSwitchGbps);
}

}  // namespace chipweave::codec
