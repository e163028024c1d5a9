// Apart from the profiles, so that programs without JSON can have them.
#include <stdexcept>

#include "common/domain/topology_builder.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::test {

using domain::ChipIndex;
using domain::LinkKind;

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
