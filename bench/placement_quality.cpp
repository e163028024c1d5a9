// Placement quality: predicted GB/s of the chosen set against pair-sum, first-fit and random
// choices, on every machine given, every size, seeded random occupancy 0-75 %. Prints a Markdown
// table (docs/develop/placement-quality.md).
//
//   placement_quality MACHINE…        MACHINE: profile name, topology file, tar dump or folder
#include <fmt/format.h>
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "common/io/files.hpp"
#include "common/solver/chips/baselines.hpp"
#include "common/solver/chips/machine.hpp"

namespace {

using chipweave::domain::ChipSet;
using chipweave::solver::Machine;

constexpr int kRounds = 60;

struct Tally {
  double sum = 0;
  double worst = 1;  // of its value over ours, per case
  int better = 0;    // cases in which it beats ours: 0 wherever our choice is exact
  void add(double value, double ours) {
    sum += value;
    if (ours > 0) worst = std::min(worst, value / ours);
    better += value > ours + 1e-6 ? 1 : 0;
  }
};

ChipSet random_subset(ChipSet pool, int size, std::mt19937_64& random) {
  std::vector<int> slots;
  for (const int s : pool) slots.push_back(s);
  for (std::size_t i = 0; i < slots.size(); ++i)
    std::swap(slots[i], slots[i + random() % (slots.size() - i)]);
  ChipSet out;
  for (int i = 0; i < size; ++i) out.insert(slots[static_cast<std::size_t>(i)]);
  return out;
}

void grade(const std::string& label, const chipweave::domain::NodeTopology& topology) {
  Machine machine(topology);
  const int n = topology.chip_count();
  if (n < 2) return;
  std::mt19937_64 random(7);
  double ours_sum = 0;
  Tally pair_sum, first_fit, any;
  int cases = 0;
  for (int size = 2; size <= std::min(n, 16); ++size) {
    for (int round = 0; round < kRounds; ++round) {
      const int busy = static_cast<int>(random() % static_cast<unsigned>(n * 3 / 4 + 1));
      const ChipSet free = topology.all() - random_subset(topology.all(), busy, random);
      if (free.size() < size) continue;
      const auto choice = machine.choose({free, {}, {}, size, false});
      if (!choice.fits) continue;
      const auto by_pairs = chipweave::solver::choose_by_pair_sum(topology, free, size);
      if (!by_pairs) continue;
      ++cases;
      ours_sum += choice.gbps;
      pair_sum.add(machine.gbps(*by_pairs), choice.gbps);
      first_fit.add(machine.gbps(*chipweave::solver::choose_first_fit(free, size)), choice.gbps);
      any.add(machine.gbps(random_subset(free, size, random)), choice.gbps);
    }
  }
  if (cases == 0) return;
  const auto cell = [cases](const Tally& t) {
    return fmt::format("{:.1f} ({:.2f})", t.sum / cases, t.worst);
  };
  const bool ruled = topology.rule().kind != chipweave::domain::RuleKind::any;
  fmt::print("| {} | {} | {} | {:.1f} | {} | {} | {} | {} |\n", label, n, cases, ours_sum / cases,
             cell(pair_sum), cell(first_fit), cell(any),
             ruled ? "others ignore the vendor's rule"
                   : (pair_sum.better + first_fit.better + any.better == 0 ? "" : "BEATEN"));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print(
      "| machine | chips | cases | ours, mean GB/s | pair-sum (worst share) | first-fit (worst "
      "share) | random (worst share) | |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|---:|---|\n");
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto machine = chipweave::io::load_machine(name);
    if (!machine) {
      fmt::print(stderr, "{}: {}\n", name, machine.error().text());
      continue;
    }
    grade(name.substr(name.rfind('/') + 1), machine->topology);
  }
  return 0;
}
