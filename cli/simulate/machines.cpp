#include "cli/simulate/machines.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/domain/topology_edit.hpp"
#include "common/io/files.hpp"
#include "common/solver/chips/machine_cache.hpp"

namespace chipweave::cli {
namespace {

constexpr const char* kFlag = "--machines";

// Cards of PCIe 4 in a server with two sockets, up to four on one socket: the rates of the profile
// pcie-8.
Result<domain::NodeTopology> plain_machine(int chips) {
  constexpr int kOnOneSocket = 4;
  constexpr double kGbps = 24;
  constexpr double kGbpsOverSockets = 20;
  const int first_socket = chips <= kOnOneSocket ? chips : (chips + 1) / 2;
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  b.model = "PCIe";
  b.host_bandwidth = domain::HostBandwidth{kGbps, kGbps, kGbps, kGbps, kGbps, kGbpsOverSockets};
  for (int i = 0; i < chips; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    chip.numa = i < first_socket ? 0 : 1;
    b.add_chip(chip);
    for (int j = 0; j < i; ++j) {
      if ((j < first_socket) == (i < first_socket))
        b.add_link(domain::ChipIndex{j}, domain::ChipIndex{i}, domain::LinkKind::node);
    }
  }
  return std::move(b).build();
}

Result<domain::NodeTopology> cut(const domain::NodeTopology& topology, int chips) {
  domain::TopologyEdit edit;
  const domain::ChipIndex first_left_out = topology.chip(chips).index;
  edit.keeps_chip = [first_left_out](const domain::Chip& c) { return c.index < first_left_out; };
  return domain::rebuilt(topology, edit);
}

struct Model {
  std::string kind;  // "hgx-v100-8", "4 of hgx-v100-8", "pcie-2"
  domain::NodeTopology topology;
};

Result<Model> machine_of(const std::string& name, int chips) {
  if (name == kPlainMachine) {
    return plain_machine(chips).transform([&](domain::NodeTopology t) {
      return Model{name + "-" + std::to_string(chips), std::move(t)};
    });
  }
  auto loaded = io::load_machine(name);
  if (!loaded) return std::move(loaded).error();
  const int has = loaded->topology.chip_count();
  if (has == chips) return Model{name, std::move(loaded->topology)};
  if (has > chips) {
    return cut(loaded->topology, chips).transform([&](domain::NodeTopology t) {
      return Model{std::to_string(chips) + " of " + name, std::move(t)};
    });
  }
  return make_error(Errc::invalid_argument, name + " has " + std::to_string(has) +
                                                " chips, a node of the trace has " +
                                                std::to_string(chips));
}

Result<std::map<std::string, std::string>> parsed(const std::vector<std::string>& overrides) {
  std::map<std::string, std::string> out;
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      return make_error(Errc::invalid_argument, "expected MODEL=PROFILE, got " + in_quotes(text))
          .in(kFlag);
    }
    out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

std::string name_of(const std::string& model, const std::map<std::string, std::string>& chosen) {
  if (const auto own = chosen.find(model); own != chosen.end()) return own->second;
  const auto known = default_machines().find(model);
  return std::string(known == default_machines().end() ? kPlainMachine : known->second);
}

}  // namespace

const std::map<std::string_view, std::string_view>& default_machines() {
  static const std::map<std::string_view, std::string_view> table = {
      {"V100M16", "hgx-v100-8"}, {"V100M32", "hgx-v100-8"}, {"V100", "hgx-v100-8"},
      {"A100", "hgx-a100-8"},    {"H100", "hgx-h100-8"},    {"H200", "hgx-h200-8"},
      {"B200", "hgx-b200-8"},    {"MI250X", "mi250x-8"},    {"MI300X", "mi300x-8"}};
  return table;
}

Result<std::vector<simulate::ModelNode>> model_nodes(const std::vector<domain::TraceNode>& nodes,
                                                     const std::vector<std::string>& overrides) {
  auto chosen = parsed(overrides);
  if (!chosen) return std::move(chosen).error();
  struct Made {
    std::string kind;
    std::shared_ptr<solver::Machine> machine;
  };
  std::map<std::pair<std::string, int>, Made> made;  // by name of the machine and chips
  solver::MachineCache cache;
  std::vector<simulate::ModelNode> out;
  std::set<std::string, std::less<>> models;
  for (const domain::TraceNode& node : nodes) {
    models.insert(node.model);
    simulate::ModelNode& model = out.emplace_back();
    model.name = node.name;
    model.free = domain::ChipSet::first(node.chips);
    model.cpu_milli = node.cpu_milli;
    model.memory_mib = node.memory_mib;
    if (node.chips == 0) continue;
    const std::string name = name_of(node.model, *chosen);
    Made& here = made[{name, node.chips}];
    if (here.machine == nullptr) {
      auto machine = machine_of(name, node.chips);
      if (!machine)
        return std::move(machine).error().in(in_quotes(node.model) + " as " + name).in(kFlag);
      here = {std::move(machine->kind), cache.get(machine->topology)};
    }
    model.kind = here.kind;
    model.machine = here.machine;
  }
  for (const auto& [model, name] : *chosen) {
    if (!models.contains(model)) {
      return make_error(Errc::invalid_argument, "no node has the model " + in_quotes(model))
          .in(kFlag);
    }
  }
  return out;
}

}  // namespace chipweave::cli
