// Arbitrary bytes → batch lines of `chipweave defrag`: no crash, what can be read is answered in
// bounded time by moves that fit, and answers are one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/defrag_codec.hpp"
#include "common/solver/gang/defrag/defrag.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

// Small requests are also answered: everything that can be read must be.
chipweave::codec::DefragAnswer answered(const chipweave::codec::DefragLineRequest& request) {
  using namespace chipweave::solver;
  using chipweave::codec::require;
  constexpr std::size_t kMaxNodes = 40;
  constexpr std::size_t kMaxPods = 40;
  constexpr std::uint64_t kSteps = 20'000;
  chipweave::codec::DefragAnswer out;
  if (request.nodes > kMaxNodes || request.pods.size() > kMaxPods) return out;
  Fabric fabric(request.network.levels.size());
  std::vector<std::int64_t> free;
  for (std::size_t n = 0; n < request.nodes; ++n) {
    const chipweave::codec::PlanNode& node = request.network.nodes[n];
    const auto id = fabric.add(node.name, node.place);
    require(id.ok());
    fabric.set_free(*id, node.free);
    if (node.max_pods >= 0) fabric.set_max_pods(*id, node.max_pods);
    fabric.set_healthy(*id, node.healthy);
    free.push_back(node.free);
  }
  std::vector<DefragPod> pods;
  for (const chipweave::codec::RunningPodEntry& pod : request.pods) {
    require(pod.chips >= 1 && pod.node < request.nodes);
    pods.push_back({.name = pod.name,
                    .node = static_cast<FabricNodeId>(pod.node),
                    .chips = pod.chips,
                    .released = pod.chips,
                    .movable = pod.movable,
                    .keep_level = pod.keep_level,
                    .distributed = !pod.gang.empty()});
  }
  DefragRequest problem;
  problem.fabric = &fabric;
  problem.pods = &pods;
  problem.target.level = request.level;
  if (request.domains) problem.target.domains = *request.domains;
  if (request.max_moves) problem.target.max_moves = *request.max_moves;
  const DefragPlan plan = plan_moves(problem, kSteps);
  require(plan.moves.size() <= static_cast<std::size_t>(problem.target.max_moves));
  require(plan.moves.empty() == (plan.free_after == plan.free_before));
  for (const PodMove& move : plan.moves) {
    free[move.from] += pods[move.pod].chips;
    free[move.to] -= pods[move.pod].chips;
    out.moves.push_back({.pod = move.pod, .from = move.from, .to = move.to});
  }
  for (const PodMove& move : plan.moves) require(free[move.to] >= 0);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave::codec;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const DefragLine line = parse_defrag_line(text);
  require_words(line.request);
  const std::string answer =
      line.request ? write_defrag_answer(line.id, *line.request, answered(*line.request))
                   : write_batch_error(line.id, line.request.error());
  require(answer.find('\n') == std::string::npos);
  return 0;
}
