// chipweave rank: the order in which hosts or placed pods should be numbered; one request by flags
// (rank_human) or many by --batch.
#include <CLI/CLI.hpp>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/rank_human.hpp"
#include "common/base/limits.hpp"
#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/rank_codec.hpp"
#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/rank_order.hpp"
#include "common/solver/ranks/weighted_order.hpp"

namespace chipweave::cli {
namespace {

std::vector<std::size_t> as_given(const codec::RankRequest& request) {
  std::vector<std::size_t> out(request.paths.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

struct Weighed {
  Result<solver::PodTraffic> traffic;
  solver::WeightedOrder order;
};

// The best order for the request's communicators, and its cost.
Result<codec::RankAnswer> weigh(const codec::RankRequest& request, Timing& timing) {
  const std::size_t levels = request.levels.size();
  Weighed found = timing.timed([&] {
    Weighed out{solver::pod_traffic(*request.communicators, request.paths.size()), {}};
    if (out.traffic) out.order = solver::weighted_order(levels, request.paths, *out.traffic);
    return out;
  });
  if (!found.traffic) return std::move(found.traffic).error().in("communicators");
  const solver::PodTraffic& traffic = *found.traffic;
  const auto crossings = [&](const std::vector<std::size_t>& order) {
    return solver::communicator_crossings(levels, request.paths, traffic, order);
  };
  const auto cost = [&](const std::vector<std::size_t>& order) {
    return solver::weighted_cost(traffic, crossings(order));
  };
  codec::CommunicatorCosts costs;
  costs.crossings = crossings(found.order.order);
  costs.weighted = solver::weighted_cost(traffic, costs.crossings);
  costs.depth_first_weighted = cost(solver::depth_first(levels, request.paths));
  costs.input_weighted = cost(as_given(request));
  costs.optimal = found.order.optimal;
  for (const auto& communicator : traffic.communicators) costs.names.push_back(communicator.name);
  codec::RankAnswer out;
  out.order = std::move(found.order.order);
  out.communicators = std::move(costs);
  return out;
}

RankedLine rank_error(const std::string& id, const Error& error) {
  return {codec::write_batch_error(id, error), error, {}, {}};
}

}  // namespace

RankedLine rank_line(const std::string& line, Timing& timing) {
  codec::RankLine parsed = codec::parse_rank_line(line);
  if (!parsed.request) return rank_error(parsed.id, parsed.request.error());
  codec::RankRequest request = *std::move(parsed.request);
  const std::size_t levels = request.levels.size();
  codec::RankAnswer out;
  if (request.communicators) {
    auto weighed = weigh(request, timing);
    if (!weighed) return rank_error(parsed.id, weighed.error());
    out = std::move(weighed).value();
  } else {
    out.order = timing.timed([&] { return solver::depth_first(levels, request.paths); });
  }
  out.crossings = solver::ring_crossings(levels, request.paths, out.order);
  out.input_crossings = solver::ring_crossings(levels, request.paths, as_given(request));
  std::string answer = codec::write_rank_answer(parsed.id, request, out);
  return {std::move(answer), std::nullopt, std::move(request), std::move(out)};
}

void register_rank(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<RankFlags>();
  CLI::App* c =
      app.add_subcommand("rank", "order hosts, or pods that have a place, from a batch file");
  auto* batch = add_batch_options(*c, flags->batch);
  add_rank_flags(*c, *flags, batch);
  add_output_option(*c, flags->form);
  add_examples(
      *c,
      "  scontrol show hostnames | chipweave rank --network topology.conf --hosts - > hosts\n"
      "  mpirun --hostfile hosts --map-by seq ...\n"
      "  chipweave rank --network topology.conf --hosts hosts --tensor 8 --pipeline 4\n"
      "  echo '{\"id\":1,\"levels\":[\"spine\",\"leaf\"],\"pods\":[{\"name\":\"p0\","
      "\"path\":[\"s0\",\"l1\"]}]}' | chipweave rank --batch -");
  c->callback([=, &exit_code] {
    const auto answer = [](const std::string& line, Timing& timing) -> BatchAnswer {
      RankedLine ranked = rank_line(line, timing);
      return {std::move(ranked.answer), ranked.wrong.has_value()};
    };
    exit_code = batch->count() > 0 ? run_batch(flags->batch, limits::kMaxPlanLineBytes, answer)
                                   : run_rank_flags(*flags);
  });
}

}  // namespace chipweave::cli
