#include "common/solver/ranks/communicators.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave::solver {
namespace {

using domain::Communicator;
using domain::ParallelSizes;
using domain::ParallelWeights;
using domain::Pattern;
using Communicators = std::vector<Communicator>;

struct Job {
  std::int64_t pods = 0;
  std::int64_t ranks_per_pod = 1;
  std::int64_t ranks = 0;

  std::string text() const {
    return concat("the ", ranks, " ranks of ", pods, " pods with ", ranks_per_pod, " each");
  }
};

Error wrong(const std::string& key, const std::string& what) {
  return make_error(Errc::invalid_argument, key + ": " + what);
}

Result<void> in_range(const std::string& key, std::int64_t value, std::int64_t min,
                      std::int64_t max) {
  if (value >= min && value <= max) return {};
  return wrong(key, concat("must be ", min, " to ", max, ", not ", value));
}

struct Named {
  const char* key;
  std::int64_t value;
};

Result<void> check_ranges(const ParallelSizes& sizes) {
  for (const Named& size : {Named{"tensor", sizes.tensor},
                            {"context", sizes.context},
                            {"pipeline", sizes.pipeline},
                            {"expert", sizes.expert}}) {
    auto fine = in_range(size.key, size.value, 1, limits::kMaxRanks);
    if (!fine) return fine;
  }
  if (auto fine = in_range("data", sizes.data, 0, limits::kMaxRanks); !fine) return fine;
  const ParallelWeights& w = sizes.weights;
  for (const Named& weight : {Named{"tensor", w.tensor},
                              {"context", w.context},
                              {"expert", w.expert},
                              {"data", w.data},
                              {"expert_data", w.expert_data},
                              {"pipeline", w.pipeline}}) {
    auto fine = in_range(std::string("weights.") + weight.key, weight.value, 0,
                         limits::kMaxCommunicatorWeight);
    if (!fine) return fine;
  }
  return {};
}

// The data size with which the product of all sizes is the number of ranks. No product here can
// overflow: neither factor is above kMaxRanks.
Result<std::int64_t> data_size(const ParallelSizes& sizes, const Job& job) {
  std::int64_t left = job.ranks;
  for (const Named& size :
       {Named{"tensor", sizes.tensor}, {"context", sizes.context}, {"pipeline", sizes.pipeline}}) {
    if (left % size.value != 0)
      return wrong(size.key, concat("must divide ", left,
                                    " (what tensor, context and pipeline before it leave of ",
                                    job.text(), "), got ", size.value));
    left /= size.value;
  }
  if (sizes.data != 0 && sizes.data != left)
    return wrong("data", concat("must be ", left, " (tensor x context x data x pipeline is ",
                                job.text(), "), got ", sizes.data));
  if ((sizes.context * left) % sizes.expert != 0)
    return wrong("expert", concat("must divide context x data, ", sizes.context * left, ", got ",
                                  sizes.expert));
  return left;
}

Result<Communicators> from_sizes(const ParallelSizes& sizes, const Job& job) {
  if (auto fine = check_ranges(sizes); !fine) return std::move(fine).error();
  const auto data = data_size(sizes, job);
  if (!data) return data.error();
  const ParallelWeights& weights = sizes.weights;
  const std::int64_t replica = sizes.tensor * sizes.context;
  const std::int64_t stage = replica * *data;
  Communicators out;
  const domain::ParallelPatterns& patterns = sizes.patterns;
  out.push_back({"tensor", sizes.tensor, 1, weights.tensor, patterns.tensor});
  out.push_back({"context", sizes.context, sizes.tensor, weights.context, patterns.context});
  if (sizes.expert > 1) {
    const std::int64_t all_experts = sizes.tensor * sizes.expert;
    out.push_back({"expert", sizes.expert, sizes.tensor, weights.expert, patterns.expert});
    out.push_back({"expert_data", stage / all_experts, all_experts, weights.expert_data,
                   patterns.expert_data});
  }
  out.push_back({"data", *data, replica, weights.data, patterns.data});
  out.push_back({"pipeline", sizes.pipeline, stage, weights.pipeline, patterns.pipeline});
  return out;
}

Result<Communicators> from_list(const Communicators& list, const Job& job) {
  if (list.size() > limits::kMaxCommunicators)
    return make_error(Errc::limit_exceeded,
                      concat("groups: at most ", limits::kMaxCommunicators,
                             " communicators are accepted, not ", list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string key = concat("groups[", i, "].");
    const Communicator& it = list[i];
    if (auto fine = in_range(key + "size", it.size, 1, limits::kMaxRanks); !fine)
      return std::move(fine).error();
    if (auto fine = in_range(key + "stride", it.stride, 1, limits::kMaxRanks); !fine)
      return std::move(fine).error();
    if (auto fine = in_range(key + "weight", it.weight, 0, limits::kMaxCommunicatorWeight); !fine)
      return std::move(fine).error();
    if (job.ranks % (it.size * it.stride) != 0)
      return wrong(key + "size",
                   concat("size x stride must divide ", job.text(), ", got ", it.size * it.stride));
  }
  return list;
}

// Sums the edges of each pair of positions and drops those of weight 0.
std::vector<PodEdge> merged(std::vector<PodEdge> edges) {
  std::sort(edges.begin(), edges.end(),
            [](const PodEdge& x, const PodEdge& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  std::vector<PodEdge> out;
  for (const PodEdge& edge : edges) {
    if (edge.weight == 0) continue;
    if (!out.empty() && out.back().a == edge.a && out.back().b == edge.b) {
      out.back().weight += edge.weight;
    } else {
      out.push_back(edge);
    }
  }
  return out;
}

// The pairs of members of a group that exchange data.
std::int64_t links_in_group(const Communicator& it) {
  switch (it.pattern) {
    case Pattern::ring:
      return it.size;
    case Pattern::all_to_all:
      return it.size * (it.size - 1) / 2;
    case Pattern::tree:
      return it.size - 1;
  }
  return 0;
}

// Handles runs of ranks: of one pod, the same member of their groups, with linked members in one
// pod.
std::vector<PodEdge> pairs_of(const Communicator& it, const Job& job) {
  std::vector<PodEdge> out;
  if (it.size == 1) return out;
  const auto add = [&](std::int64_t from, std::int64_t to, std::int64_t ranks) {
    while (ranks > 0) {
      const std::int64_t run = std::min({ranks, job.ranks_per_pod - from % job.ranks_per_pod,
                                         job.ranks_per_pod - to % job.ranks_per_pod});
      const std::int64_t from_pod = from / job.ranks_per_pod;
      const std::int64_t to_pod = to / job.ranks_per_pod;
      if (from_pod != to_pod)
        out.push_back({static_cast<std::uint32_t>(std::min(from_pod, to_pod)),
                       static_cast<std::uint32_t>(std::max(from_pod, to_pod)), run});
      from += run;
      to += run;
      ranks -= run;
    }
  };
  // Ranks of the same member are `stride` consecutive ones.
  for (std::int64_t rank = 0; rank < job.ranks; rank += it.stride) {
    const std::int64_t member = rank / it.stride % it.size;
    each_link(it, member, [&](std::int64_t other) {
      add(rank, rank + (other - member) * it.stride, it.stride);
    });
  }
  return merged(std::move(out));
}

// Before any of them is listed.
Result<void> check_pairs(const Communicators& list, const Job& job) {
  for (const Communicator& it : list) {
    const std::int64_t groups = job.ranks / it.size;
    if (links_in_group(it) <= limits::kMaxRankPairs / std::max<std::int64_t>(groups, 1)) continue;
    return make_error(Errc::limit_exceeded,
                      concat(it.name, ": ", groups, " groups of ", it.size, " ranks with pattern ",
                             domain::kPatternNames[static_cast<std::size_t>(it.pattern)],
                             " have more than ", limits::kMaxRankPairs, " pairs"));
  }
  return {};
}

// The digit sizes given by the borders of groups, in pods, as far as these nest, smallest first.
std::vector<std::size_t> axes_of(const Communicators& list, const Job& job) {
  std::vector<std::int64_t> borders = {job.pods};
  for (const Communicator& it : list) {
    if (it.weight == 0 || it.size == 1) continue;
    for (const std::int64_t border : {it.stride, it.stride * it.size}) {
      if (border % job.ranks_per_pod == 0) borders.push_back(border / job.ranks_per_pod);
    }
  }
  std::sort(borders.begin(), borders.end());
  std::vector<std::size_t> out;
  std::int64_t inner = 1;
  for (const std::int64_t border : borders) {
    if (border == inner || border % inner != 0 || job.pods % border != 0) continue;
    out.push_back(static_cast<std::size_t>(border / inner));
    inner = border;
  }
  return out;
}

PodTraffic traffic_of(Communicators list, const Job& job) {
  PodTraffic out;
  out.pods = static_cast<std::size_t>(job.pods);
  std::vector<PodEdge> all;
  for (const Communicator& it : list) {
    out.rank_pairs.push_back(pairs_of(it, job));
    for (PodEdge edge : out.rank_pairs.back()) {
      edge.weight *= it.weight;
      all.push_back(edge);
    }
  }
  out.edges = merged(std::move(all));
  out.axes = axes_of(list, job);
  out.communicators = std::move(list);
  return out;
}

}  // namespace

Result<PodTraffic> pod_traffic(const domain::Communicators& communicators, std::size_t pods) {
  const std::int64_t per_pod = communicators.ranks_per_pod;
  if (auto fine = in_range("ranks_per_pod", per_pod, 1, limits::kMaxRanks); !fine)
    return std::move(fine).error();
  if (pods == 0) return wrong("ranks_per_pod", "there are no pods that could hold ranks");
  const auto most = static_cast<std::size_t>(limits::kMaxRanks / per_pod);
  if (pods > most)
    return make_error(Errc::limit_exceeded,
                      concat("ranks_per_pod: at most ", limits::kMaxRanks, " ranks are accepted"));
  Job job;
  job.pods = static_cast<std::int64_t>(pods);
  job.ranks_per_pod = per_pod;
  job.ranks = job.pods * per_pod;
  Result<Communicators> list = communicators.list.empty() ? from_sizes(communicators.sizes, job)
                                                          : from_list(communicators.list, job);
  if (!list) return std::move(list).error();
  if (auto fine = check_pairs(*list, job); !fine) return std::move(fine).error();
  return traffic_of(std::move(list).value(), job);
}

}  // namespace chipweave::solver
