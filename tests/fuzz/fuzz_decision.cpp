// Arbitrary machines, rules and requests → a decision: within the counted steps, legal, and the
// same with warm tables.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/topology_builder.hpp"
#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/chips/machine.hpp"

namespace {
using chipweave::domain::ChipIndex;
using chipweave::domain::ChipSet;
using chipweave::domain::LinkKind;
using chipweave::domain::NodeTopology;
using chipweave::domain::RuleKind;
using chipweave::domain::TopologyBuilder;
namespace solver = chipweave::solver;

void require(bool holds) {
  if (!holds) std::abort();
}

// The input's bytes, then pseudo-random ones that depend on them: a short input describes a large
// machine.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : rest_(bytes) {
    for (const std::uint8_t byte : bytes) state_ = (state_ ^ byte) * 0x100000001b3ULL;
  }
  int below(int n) {
    if (!rest_.empty()) {
      const int value = rest_.front();
      rest_ = rest_.subspan(1);
      return value % n;
    }
    return static_cast<int>(word() % static_cast<std::uint64_t>(n));
  }
  std::uint64_t word() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return state_ ^ state_ >> 29U;
  }

 private:
  std::span<const std::uint8_t> rest_;
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

void add_wiring(TopologyBuilder& builder, Bytes& bytes, int chips) {
  const int density = bytes.below(5);  // quarters of the pairs that are linked
  const int kinds = bytes.below(3);    // of rates: one, some, all different
  const LinkKind kind = bytes.below(3) == 0 ? LinkKind::xgmi : LinkKind::nvlink;
  const auto rate = [&] { return 20.0 + (kinds == 0 ? 0 : bytes.below(kinds == 1 ? 3 : 200)); };
  for (int a = 0; a < chips; ++a) {
    for (int b = a + 1; b < chips; ++b) {
      if (bytes.below(4) < density) {
        const int lanes = 1 + bytes.below(4);
        builder.add_link(ChipIndex{a}, ChipIndex{b}, kind, lanes, rate(), bytes.below(lanes + 1));
      }
      const int host = static_cast<int>(LinkKind::board) + bytes.below(6);
      builder.add_link(ChipIndex{a}, ChipIndex{b}, static_cast<LinkKind>(host));
    }
  }
  constexpr int kSwitches[] = {0, 0, 1, 2, 6, 17, 64, 65, 256};
  for (int k = kSwitches[bytes.below(9)]; k > 0; --k) {
    std::vector<TopologyBuilder::Port> ports;
    const int every = 1 + bytes.below(4);
    for (int a = 0; a < chips; ++a) {
      if (bytes.below(every) == 0) ports.push_back({ChipIndex{a}, 1 + bytes.below(3), 0});
    }
    if (!ports.empty())
      builder.add_switch("s" + std::to_string(k), LinkKind::nvswitch, std::move(ports), rate());
  }
}

std::optional<NodeTopology> machine_of(Bytes& bytes) {
  constexpr int kChips[] = {2, 4, 8, 12, 16, 16, 16, 17, 24, 40, 64};
  constexpr int kGroups[] = {2, 4, 8, 1};
  const int chips = kChips[bytes.below(11)];
  TopologyBuilder builder;
  builder.p2p = bytes.below(4) != 0;
  builder.rule = {
      static_cast<RuleKind>(bytes.below(static_cast<int>(RuleKind::ascend_a5_mesh4) + 1)),
      kGroups[bytes.below(4)]};
  for (int a = 0; a < chips; ++a) {
    chipweave::domain::Chip chip;
    chip.index = ChipIndex{a};
    chip.numa = bytes.below(5) - 1;
    builder.add_chip(std::move(chip));
  }
  add_wiring(builder, bytes, chips);
  if (builder.rule->kind == RuleKind::any && bytes.below(4) == 0) {
    for (int k = bytes.below(200); k > 0; --k) {
      std::vector<ChipIndex> set;
      for (int a = 0; a < chips; ++a) {
        if (bytes.below(2) == 0) set.push_back(ChipIndex{a});
      }
      if (!set.empty()) builder.add_partition(std::move(set));
    }
  }
  for (int k = bytes.below(9); k > 0; --k) {
    builder.add_nic("n" + std::to_string(k), "", -1, 50,
                    {{ChipIndex{bytes.below(chips)}, LinkKind::pix}});
  }
  auto machine = std::move(builder).build();
  if (!machine) return std::nullopt;
  return *std::move(machine);
}

void check_choice(const NodeTopology& topology, Bytes& bytes) {
  solver::Machine machine(topology);
  solver::Request request;
  request.usable =
      bytes.below(2) == 0 ? topology.all() : ChipSet(bytes.word() & topology.all().bits());
  request.size = 1 + bytes.below(topology.chip_count());
  request.distributed = bytes.below(2) == 0;
  if (bytes.below(4) == 0)
    request.already_held = ChipSet(bytes.word() & bytes.word()) & topology.all();
  const solver::Choice choice = machine.choose(request);
  require(machine.stats().most_steps <= solver::steps_for(topology.chip_count()).decision);
  require(choice.fits == (choice.why == solver::Misfit::none));
  if (!choice.fits) return;
  require(choice.chips.size() == request.size);
  require((request.usable - request.already_held).contains(choice.chips));
  require(machine.legal(choice.chips, request.usable - request.already_held, request.distributed));
  require(choice.gbps <= choice.bound + 1e-6 && choice.gbps <= choice.best_gbps + 1e-6);
  require(machine.choose(request).chips == choice.chips);
}

void check_group(const NodeTopology& topology, Bytes& bytes) {
  solver::Machine machine(topology);
  const ChipSet usable =
      bytes.below(2) == 0 ? topology.all() : ChipSet(bytes.word() & topology.all().bits());
  std::vector<int> sizes;
  for (int left = usable.size(); left > 0 && sizes.size() < 8;) {
    sizes.push_back(1 + bytes.below(left > 4 ? left / 2 : left));
    left -= sizes.back();
  }
  const bool distributed = bytes.below(2) == 0;
  const solver::GroupChoice choice = machine.choose_group({usable, {}, sizes, distributed});
  require(machine.stats().most_steps <= solver::steps_for(topology.chip_count()).decision);
  if (!choice.fits) return;
  ChipSet all;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    require(choice.parts[k].size() == sizes[k] && !choice.parts[k].intersects(all));
    require(machine.legal(choice.parts[k], usable, distributed));
    all |= choice.parts[k];
  }
  require(all == choice.chips && usable.contains(all));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  const auto machine = machine_of(bytes);
  if (!machine) return 0;
  if (bytes.below(2) == 0) {
    check_choice(*machine, bytes);
  } else {
    check_group(*machine, bytes);
  }
  return 0;
}
