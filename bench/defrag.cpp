// defrag — the cost of a plan of moves that frees nodes or racks, as the cluster grows, without
// reading it from JSON.
//
//   bench_defrag            the table for docs/develop/benchmarks.md
//
// Clusters are seeded: blocks of 25 racks of 20 nodes of 8 chips, two pods of 1 to 4 chips a node
// on average; one pod in ten cannot move.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "common/solver/gang/defrag/defrag.hpp"

namespace {

using namespace chipweave::solver;

constexpr int kChips = 8;

struct Cluster {
  Fabric fabric{3};
  std::vector<DefragPod> pods;
};

Cluster cluster_of(int nodes) {
  const auto number = [](const char* what, int n) { return what + std::to_string(n); };
  std::mt19937 random(static_cast<unsigned>(nodes));
  const auto any = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  Cluster out;
  std::vector<int> free(static_cast<std::size_t>(nodes), kChips);
  std::vector<FabricNodeId> ids;
  for (int i = 0; i < nodes; ++i) {
    const auto id = out.fabric.add(
        number("n", i), {number("b", i / 500), number("r", i / 20 % 25), number("n", i)});
    ids.push_back(id.value());
  }
  for (int i = 0; i < nodes * 2; ++i) {
    const auto node = static_cast<std::size_t>(any(nodes));
    const int chips = 1 << any(3);
    if (chips > free[node]) continue;
    free[node] -= chips;
    DefragPod pod;
    pod.name = number("p", i);
    pod.node = ids[node];
    pod.chips = pod.released = chips;
    pod.movable = any(10) != 0;
    out.pods.push_back(pod);
  }
  for (std::size_t i = 0; i < free.size(); ++i) out.fabric.set_free(ids[i], free[i]);
  return out;
}

double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  return 0;
}

void row(const Cluster& cluster, int nodes, const char* what, const DefragTarget& target) {
  DefragRequest request;
  request.fabric = &cluster.fabric;
  request.pods = &cluster.pods;
  request.target = target;
  std::vector<double> times;
  DefragPlan plan;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    plan = plan_moves(request);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("| {} | {} | {} | {:.1f} | {} | {} | {} | {} | {:.0f} |\n", nodes, cluster.pods.size(),
             what, times[1], plan.freed.size(), plan.moves.size(), plan.chips_moved,
             plan.optimal ? "proven" : fmt::format("at most {}", plan.bound->domains), peak_mib());
}

}  // namespace

int main() {
  fmt::print(
      "| nodes | pods | target | median ms | freed | pods moved | chips moved | proven | peak MiB "
      "|\n"
      "|---:|---:|---|---:|---:|---:|---:|---|---:|\n");
  for (const int nodes : {100, 1000, 10'000, 100'000}) {
    const Cluster cluster = cluster_of(nodes);
    row(cluster, nodes, "10 nodes", {.domains = 10});
    row(cluster, nodes, "nodes, as many as possible", {});
    row(cluster, nodes, "nodes, at most 50 moves", {.max_moves = 50});
    row(cluster, nodes, "1 rack", {.level = 1, .domains = 1});
    row(cluster, nodes, "racks, as many as possible", {.level = 1});
  }
  return 0;
}
