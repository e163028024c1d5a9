#include "tests/unit/solver/machines.hpp"

#include <stdexcept>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::test {

using domain::ChipIndex;
using domain::LinkKind;

domain::NodeTopology profile(const std::string& name) {
  const profiles::Profile* p = profiles::find(name);
  if (p == nullptr) throw std::runtime_error("no profile " + name);
  auto t = codec::import_topology_json(p->json, {});
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t->topology);
}

std::vector<std::string> profile_names(int chips) {
  std::vector<std::string> out;
  for (const profiles::Profile& p : profiles::all()) {
    if (profile(std::string(p.name)).chip_count() <= chips) out.emplace_back(p.name);
  }
  return out;
}

domain::NodeTopology random_machine(int chips, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](unsigned n) { return static_cast<int>(random() % n); };
  domain::TopologyBuilder b;
  b.p2p = below(6) != 0;
  const bool xgmi = below(3) == 0;
  b.vendor = xgmi ? "amd" : "nvidia";
  for (int i = 0; i < chips; ++i) {
    domain::Chip c;
    c.index = ChipIndex{i};
    c.numa = i / 4;
    b.add_chip(c);
  }
  const unsigned density = 1 + random() % 4;
  for (int i = 0; i < chips; ++i) {
    for (int j = i + 1; j < chips; ++j) {
      if (random() % 4 < density) {
        b.add_link(ChipIndex{i}, ChipIndex{j}, xgmi ? LinkKind::xgmi : LinkKind::nvlink,
                   1 + below(4), 20.0);
      }
      const LinkKind host =
          i / 2 == j / 2 ? LinkKind::pix : (i / 4 == j / 4 ? LinkKind::phb : LinkKind::sys);
      b.add_link(ChipIndex{i}, ChipIndex{j}, host);
    }
  }
  const int switches = below(3);
  for (int k = 0; k < switches; ++k) {
    std::vector<domain::TopologyBuilder::Port> ports;
    for (int i = 0; i < chips; ++i) {
      if (below(3) != 0) ports.push_back({ChipIndex{i}, 1 + below(3), 0});
    }
    if (!ports.empty()) b.add_switch("s" + std::to_string(k), LinkKind::nvswitch, ports, 20.0);
  }
  auto t = std::move(b).build();
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t).value();
}

domain::NodeTopology with_random_faults(domain::NodeTopology machine, unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<domain::DirectLink> links = machine.links();
  for (const domain::DirectLink& l : links) {
    if (random() % 4 == 0) machine.take_down(l.a, l.b, 1 + static_cast<int>(random() % 4));
  }
  return machine;
}

}  // namespace chipweave::test
