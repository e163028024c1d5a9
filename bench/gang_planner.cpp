// gang_planner — the cost of a gang's plan as the cluster and the gang grow, on a fabric that is
// updated in place as in a scheduler: no copy, no JSON.
//
//   gang_planner            tables for docs/develop/benchmarks.md: plans, changes of the fabric,
//                           memory
//
// Fabrics are seeded: blocks of 25 racks of 20 nodes of 8 chips; two fifths of the busy chips are
// on fully busy nodes, the others are spread.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "common/solver/gang/planner.hpp"

namespace {

using chipweave::domain::Gang;
using chipweave::domain::Plan;
using chipweave::solver::Fabric;
using chipweave::solver::FabricNodeId;
using Clock = std::chrono::steady_clock;

constexpr int kChips = 8;
const std::vector<std::string> kLevels{"block", "rack", "hostname"};

std::string number(const char* what, int n) { return what + std::to_string(n); }

std::vector<std::string> path_of(int node) {
  return {number("b", node / 500), number("r", node / 20 % 25), number("n", node)};
}

Fabric fabric_of(int nodes, int occupancy) {
  std::mt19937 random(static_cast<unsigned>(nodes * 100 + occupancy));
  std::vector<int> used(static_cast<std::size_t>(nodes), 0);
  const auto any = [&] { return static_cast<std::size_t>(random() % used.size()); };
  auto left = static_cast<long>(nodes) * kChips * occupancy / 100;
  for (long whole = left * 2 / 5 / kChips; whole > 0;) {
    int& node = used[any()];
    if (node > 0) continue;
    node = kChips;
    left -= kChips;
    --whole;
  }
  while (left > 0) {
    int& node = used[any()];
    if (node == kChips) continue;
    ++node;
    --left;
  }
  Fabric fabric(kLevels.size());
  for (int i = 0; i < nodes; ++i) {
    const auto id = fabric.add(number("n", i), path_of(i));
    if (id) fabric.set_free(*id, kChips - used[static_cast<std::size_t>(i)]);
  }
  return fabric;
}

Gang gang_of(int pods, int chips) {
  Gang gang;
  gang.pods = pods;
  gang.min_member = pods;
  gang.chips_per_pod = chips;
  return gang;
}

template <class Work>
double microseconds(const Work& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double status_mib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key + ":", 0) == 0) return std::stod(line.substr(key.size() + 1)) / 1024;
  }
  return 0;
}

void growth() {
  fmt::print(
      "| nodes | busy | pods x chips | median us | blocks | racks | nodes used | us a rack |\n"
      "|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const int nodes : {1000, 10'000, 100'000}) {
    for (const int occupancy : {0, 50, 75}) {
      const Fabric fabric = fabric_of(nodes, occupancy);
      for (const int chips : {1, kChips}) {
        for (const int pods : {10, 100, 1000, 10'000}) {
          const Gang gang = gang_of(pods, chips);
          Plan plan = plan_gang(fabric, kLevels, gang);
          std::vector<double> times;
          const int repeats = pods == 10'000 ? 3 : 9;
          times.reserve(static_cast<std::size_t>(repeats));
          for (int i = 0; i < repeats; ++i)
            times.push_back(microseconds([&] { plan = plan_gang(fabric, kLevels, gang); }));
          if (!plan.fits) {
            fmt::print("| {} | {} % | {} x {} | {:.0f} | does not fit | | | |\n", nodes, occupancy,
                       pods, chips, median(times));
            continue;
          }
          fmt::print("| {} | {} % | {} x {} | {:.0f} | {} | {} | {} | {:.1f} |\n", nodes, occupancy,
                     pods, chips, median(times), plan.domains[0], plan.domains[1], plan.domains[2],
                     median(times) / plan.domains[1]);
        }
      }
    }
  }
}

// Gangs that come one after another, each taking its chips before the next is planned.
void stream() {
  fmt::print(
      "\n| 10,000 nodes, 100 gangs one after another, each takes its chips | mean us | max us | "
      "placed |\n"
      "|---|---:|---:|---:|\n");
  for (const int occupancy : {0, 50, 75}) {
    for (const int chips : {1, kChips}) {
      Fabric fabric = fabric_of(10'000, occupancy);
      (void)plan_gang(fabric, kLevels, gang_of(1, 1));
      double sum = 0;
      double most = 0;
      int placed = 0;
      for (int i = 0; i < 100; ++i) {
        const double took = microseconds([&] {
          const Plan plan = plan_gang(fabric, kLevels, gang_of(8, chips));
          placed += plan.fits ? 1 : 0;
          for (const auto& pod : plan.pods)
            fabric.set_free(pod.node, fabric.node(pod.node).free - chips);
        });
        sum += took;
        most = std::max(most, took);
      }
      fmt::print("| {} % busy, 8 pods x {} | {:.0f} | {:.0f} | {} |\n", occupancy, chips, sum / 100,
                 most, placed);
    }
  }
}

void changes() {
  fmt::print(
      "\n| one change of the fabric, ns | 1,000 nodes | 10,000 | 100,000 "
      "|\n|---|---:|---:|---:|\n");
  std::vector<std::vector<double>> rows(2);
  for (const int nodes : {1000, 10'000, 100'000}) {
    Fabric fabric = fabric_of(nodes, 50);
    (void)plan_gang(fabric, kLevels, gang_of(8, 1));
    std::mt19937 random(7);
    constexpr int kTimes = 20'000;
    std::vector<FabricNodeId> which;
    which.reserve(kTimes);
    for (int i = 0; i < kTimes; ++i)
      which.push_back(static_cast<FabricNodeId>(random() % static_cast<unsigned>(nodes)));
    // Includes the recount of the pool at its next read.
    rows[0].push_back(microseconds([&] {
                        for (const FabricNodeId node : which) {
                          fabric.set_free(node, static_cast<int>(random() % (kChips + 1)));
                          (void)fabric.kinds(fabric.pool_of(node));
                        }
                      }) *
                      1000 / kTimes);
    rows[1].push_back(microseconds([&] {
                        for (const FabricNodeId node : which) {
                          const int n = static_cast<int>(node);
                          const FabricNodeId there = fabric.find(number("n", n));
                          fabric.remove(there);
                          const auto id = fabric.add(number("n", n), path_of(n));
                          (void)fabric.kinds(fabric.pool_of(*id));
                        }
                      }) *
                      1000 / kTimes);
  }
  fmt::print("| free chips | {:.0f} | {:.0f} | {:.0f} |\n", rows[0][0], rows[0][1], rows[0][2]);
  fmt::print("| a node leaves and joins | {:.0f} | {:.0f} | {:.0f} |\n", rows[1][0], rows[1][1],
             rows[1][2]);
}

void memory() {
  const double before = status_mib("VmRSS");
  const Fabric fabric = fabric_of(10'000, 0);
  const double held = status_mib("VmRSS");
  const Plan plan = plan_gang(fabric, kLevels, gang_of(80'000, 1));
  fmt::print(
      "\n| memory, MiB | |\n|---|---:|\n| fabric of 10,000 nodes, 80,000 chips | {:.1f} |\n"
      "| at most while {} pods on it were planned at once | {:.0f} |\n",
      held - before, plan.pods.size(), status_mib("VmHWM"));
}

}  // namespace

int main() {
  memory();
  fmt::print("\n");
  growth();
  stream();
  changes();
  return 0;
}
