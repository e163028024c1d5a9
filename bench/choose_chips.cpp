// Chip choice: warm (a look-up), cold (first request of a topology class), cold where no two chips
// are interchangeable, and brute force over all sets, by machine and size.
#include <benchmark/benchmark.h>

#include <chrono>
#include <random>
#include <stdexcept>

#include "common/domain/topology_builder.hpp"
#include "common/io/files.hpp"
#include "common/solver/chips/baselines.hpp"
#include "common/solver/chips/machine.hpp"

namespace {

using chipweave::domain::ChipSet;
using chipweave::domain::NodeTopology;
using chipweave::solver::Machine;
using chipweave::solver::Request;

NodeTopology load(const std::string& name) {
  auto t = chipweave::io::load_machine(name);
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t->topology);
}

void warm(benchmark::State& state, const std::string& name) {
  Machine machine(load(name));
  const Request r{machine.topology().all(), {}, {}, static_cast<int>(state.range(0)), false};
  machine.choose(r);
  for (auto _ : state) benchmark::DoNotOptimize(machine.choose(r));
}

// The first answer of a new class with every chip free; its tables are built during the call (the
// wiring itself is prepared before).
void cold(benchmark::State& state, const std::string& name) {
  const NodeTopology topology = load(name);
  for (auto _ : state) {
    state.PauseTiming();
    Machine machine(topology);
    const Request r{topology.all(), {}, {}, static_cast<int>(state.range(0)), false};
    state.ResumeTiming();
    benchmark::DoNotOptimize(machine.choose(r));
  }
}

// Sixteen chips, a quarter to all of the pairs linked with one to nine lanes of any rate: the seed
// decides.
NodeTopology irregular_machine(unsigned seed) {
  using namespace chipweave::domain;
  constexpr int kChips = 16;
  std::mt19937 random(seed);
  const unsigned density = 1 + random() % 4;
  const bool one_rate = random() % 2 == 0;
  TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < kChips; ++i) {
    Chip c;
    c.index = ChipIndex{i};
    c.numa = i / 8;
    b.add_chip(c);
  }
  for (int i = 0; i < kChips; ++i) {
    for (int j = i + 1; j < kChips; ++j) {
      if (random() % 4 >= density) continue;
      const int lanes = 1 + static_cast<int>(random() % (one_rate ? 2 : 9));
      const double gbps = one_rate ? 25 : 1 + static_cast<double>(random() % 99000) / 1000;
      b.add_link(ChipIndex{i}, ChipIndex{j}, LinkKind::nvlink, lanes, gbps);
    }
  }
  return std::move(b).build().value();
}

// One machine per iteration. Counts answers that are not proven best, and the slowest one.
void cold_irregular(benchmark::State& state) {
  unsigned seed = 0;
  double worst_ms = 0;
  int unproven = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Machine machine(irregular_machine(++seed));
    const Request r{machine.topology().all(), {}, {}, static_cast<int>(state.range(0)), false};
    state.ResumeTiming();
    const auto begin = std::chrono::steady_clock::now();
    const auto choice = machine.choose(r);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    worst_ms = std::max(worst_ms, took.count());
    unproven += choice.exact ? 0 : 1;
  }
  state.counters["worst_ms"] = worst_ms;
  state.counters["unproven"] = unproven;
}

// Seeded mix of sizes, occupancy and health over one class, as a scheduler requests it. Counts the
// share of look-ups.
void mix(benchmark::State& state, const std::string& name) {
  Machine machine(load(name));
  const ChipSet all = machine.topology().all();
  std::mt19937_64 random(1);
  std::vector<Request> requests;
  for (int i = 0; i < 20000; ++i) {
    Request r;
    r.usable = ChipSet(random() & (i % 3 == 0 ? ~0ULL : random() | random()) & all.bits());
    r.size = 1 + static_cast<int>(random() % 8);
    r.distributed = random() % 4 == 0;
    requests.push_back(r);
  }
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(machine.choose(requests[next]));
    next = (next + 1) % requests.size();
  }
  const auto stats = machine.stats();
  state.counters["hit_rate"] =
      static_cast<double>(stats.hits) / static_cast<double>(stats.hits + stats.misses);
  state.counters["entries"] = static_cast<double>(stats.entries);
}

// The bandwidth of every set of the size (memoised after the first round), to show what the search
// saves.
void brute_force(benchmark::State& state, const std::string& name) {
  Machine machine(load(name));
  const int n = machine.topology().chip_count();
  const int size = static_cast<int>(state.range(0));
  for (auto _ : state) {
    double best = 0;
    for (std::uint64_t m = 1; m < std::uint64_t{1} << n; ++m) {
      if (ChipSet(m).size() == size) best = std::max(best, machine.gbps(ChipSet(m)));
    }
    benchmark::DoNotOptimize(best);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string name :
       {"hgx-v100-8", "hgx-h100-8", "mi250x-8", "ascend-910b-8", "dgx2-v100-16", "ascend-910b-16",
        "ascend-a3-16", "metax-c550-16"}) {
    const int chips = load(name).chip_count();
    for (int size = 1; size <= chips; size += size < 8 ? 1 : 4) {
      benchmark::RegisterBenchmark(("warm/" + name).c_str(), [name](benchmark::State& s) {
        warm(s, name);
      })->Arg(size);
      benchmark::RegisterBenchmark(("cold/" + name).c_str(),
                                   [name](benchmark::State& s) { cold(s, name); })
          ->Arg(size)
          ->Unit(benchmark::kMicrosecond)
          ->Iterations(20);
    }
    benchmark::RegisterBenchmark(("mix/" + name).c_str(),
                                 [name](benchmark::State& s) { mix(s, name); });
    for (const int size : {4, 8}) {
      benchmark::RegisterBenchmark(("brute_force/" + name).c_str(),
                                   [name](benchmark::State& s) { brute_force(s, name); })
          ->Arg(size)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  for (const int size : {2, 4, 8, 10, 12, 13, 14, 15, 16}) {
    benchmark::RegisterBenchmark("cold/irregular-16", cold_irregular)
        ->Arg(size)
        ->Unit(benchmark::kMillisecond)
        ->Iterations(60);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
