#include "node-agent/device_plugin/core/devices.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/mindcluster/ascend_names.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::device_plugin {
namespace {

using domain::Chip;
using domain::NodeTopology;

// As the kubelet and environment variables can carry it.
bool usable_id(const std::string& id) {
  return !id.empty() && id.size() <= limits::kMaxNameBytes &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 127 && c != ','; });
}

std::vector<std::string> ascend_ids(const NodeTopology& topology) {
  const codec::mindcluster::AscendNames names(topology);
  std::vector<std::string> out;
  for (const Chip& chip : topology.chips())
    out.push_back(std::string(names.prefix()) + "-" + std::to_string(names.number(chip)));
  return out;
}

std::vector<std::string> given_ids(const NodeTopology& topology, std::string Chip::*what) {
  std::vector<std::string> out;
  for (const Chip& chip : topology.chips()) out.push_back(chip.*what);
  return out;
}

bool tell_apart(const std::vector<std::string>& ids) {
  return std::all_of(ids.begin(), ids.end(), usable_id) &&
         std::set<std::string>(ids.begin(), ids.end()).size() == ids.size();
}

std::vector<std::string> device_ids(const NodeTopology& topology) {
  std::vector<std::vector<std::string>> forms = id_forms(topology);
  for (auto& form : forms) {
    if (tell_apart(form)) return std::move(form);
  }
  return forms.back();
}

}  // namespace

std::vector<std::vector<std::string>> id_forms(const NodeTopology& topology) {
  std::vector<std::vector<std::string>> out;
  switch (domain::vendor_of(topology).id) {
    case domain::VendorId::ascend:
      out = {ascend_ids(topology)};
      break;
    case domain::VendorId::amd:
      out = {given_ids(topology, &Chip::pci), given_ids(topology, &Chip::id)};
      break;
    default:
      out = {given_ids(topology, &Chip::id), given_ids(topology, &Chip::pci)};
  }
  auto& indices = out.emplace_back();
  for (const Chip& chip : topology.chips()) indices.push_back(std::to_string(chip.index.value));
  return out;
}

Devices::Devices(const NodeTopology& topology, std::shared_ptr<solver::Machine> machine)
    : Devices(topology, std::move(machine), device_ids(topology), topology.all()) {}

Devices::Devices(NodeTopology topology, std::shared_ptr<solver::Machine> machine,
                 std::vector<std::string> ids, ChipSet usable)
    : topology_(std::move(topology)),
      machine_(std::move(machine)),
      ids_(std::move(ids)),
      usable_(usable) {
  for (int slot = 0; slot < count(); ++slot) {
    if (!id(slot).empty()) slots_.emplace(id(slot), slot);
  }
}

std::shared_ptr<const Devices> Devices::without(ChipSet chips) const {
  auto out = std::make_shared<Devices>(*this);
  out->usable_ -= chips;
  return out;
}

std::optional<int> Devices::slot(std::string_view id) const {
  const auto found = slots_.find(id);
  return found == slots_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Devices::ids(ChipSet chips) const {
  std::vector<std::string> out;
  for (const int slot : chips) out.push_back(id(slot));
  return out;
}

ChipSet Devices::chips(const std::vector<std::string>& ids, int* unknown) const {
  ChipSet out;
  for (const std::string& id : ids) {
    if (const auto found = slot(id)) {
      out.insert(*found);
    } else if (unknown != nullptr) {
      ++*unknown;
    }
  }
  return out;
}

std::vector<OfferedDevice> offered(const Devices& devices, bool current) {
  std::vector<OfferedDevice> out;
  for (int slot = 0; slot < devices.count(); ++slot) {
    if (!devices.id(slot).empty())
      out.push_back({devices.id(slot), current && devices.healthy().contains(slot)});
  }
  return out;
}

}  // namespace chipweave::device_plugin
