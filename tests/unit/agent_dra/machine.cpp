#include "tests/unit/agent_dra/machine.hpp"

#include <array>

namespace chipweave::agent::dra {

domain::Chip bare_chip(int index) {
  domain::Chip out;
  out.index = {index};
  return out;
}

NodeState two_islands(const std::set<int>& unhealthy) {
  constexpr std::array<const char*, 8> kBuses = {"06", "07", "08", "09", "86", "87", "88", "89"};
  domain::TopologyBuilder builder;
  builder.vendor = "nvidia";
  builder.model = "HGX";
  for (int i = 0; i < 8; ++i) {
    domain::Chip chip;
    chip.index = {i};
    chip.id = "GPU-0000000" + std::to_string(i);
    chip.model = "NVIDIA A100-SXM4-80GB";
    chip.pci =
        (i < 4 ? "0000:" : "0001:") + std::string(kBuses.at(static_cast<std::size_t>(i))) + ":00.0";
    chip.numa = i < 4 ? 0 : 1;
    chip.memory_bytes = std::uint64_t{80} << 30U;
    if (unhealthy.contains(i)) chip.health = domain::Health::unhealthy;
    builder.add_chip(chip);
  }
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) {
      if (a / 4 == b / 4) builder.add_link({a}, {b}, domain::LinkKind::nvlink, 4);
    }
  }
  builder.add_nic("mlx5_0", "0000:05:00.0", 0, 50,
                  {{domain::ChipIndex{0}, domain::LinkKind::pix},
                   {domain::ChipIndex{1}, domain::LinkKind::pix}});
  NodeState state;
  state.machine = "hgx-test-8";
  state.resources = {"nvidia.com/gpu"};
  state.topology = std::move(builder).build().value();
  for (const int chip : unhealthy) {
    domain::Fault fault;
    fault.code = "xid.79";
    fault.chip = domain::ChipIndex{chip};
    fault.text = "fell off the bus";
    state.faults.push_back(fault);
  }
  return state;
}

}  // namespace chipweave::agent::dra
