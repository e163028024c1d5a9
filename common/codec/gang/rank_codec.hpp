// The batch lines of `chipweave rank`: placed pods to be ordered (docs/reference/cli.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/batch/batch.hpp"
#include "common/domain/communicators.hpp"

namespace chipweave::codec {

struct RankRequest {
  std::vector<std::string> levels;  // coarsest first
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> paths;  // one a pod, at most as long as levels
  // As written; the solver checks whether they fit the pods.
  std::optional<domain::Communicators> communicators;
};
using RankLine = BatchRequest<RankRequest>;
RankLine parse_rank_line(std::string_view line);

// The cost of an order for the communicators that the request names.
struct CommunicatorCosts {
  std::int64_t weighted = 0;
  std::int64_t depth_first_weighted = 0;
  std::int64_t input_weighted = 0;
  bool optimal = false;
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> crossings;  // crossings of the order, by name and level
};
struct RankAnswer {
  std::vector<std::size_t> order;  // positions of pods
  std::vector<std::size_t> crossings;
  std::vector<std::size_t> input_crossings;
  std::optional<CommunicatorCosts> communicators = std::nullopt;
};
std::string write_rank_answer(const std::string& id, const RankRequest& request,
                              const RankAnswer& answer);

}  // namespace chipweave::codec
