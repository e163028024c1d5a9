// The batch lines of `chipweave rank`: pods that have a place, to be ordered (docs/cli.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct RankRequest {
  std::vector<std::string> levels;  // coarsest first
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> paths;  // of each pod, at most as long as levels
};
struct RankLine {
  std::string id;
  Result<RankRequest> request;
};
RankLine parse_rank_line(std::string_view line);

struct RankAnswer {
  std::vector<std::size_t> order;  // positions of pods
  std::vector<std::size_t> crossings;
  std::vector<std::size_t> input_crossings;
};
std::string write_rank_answer(const std::string& id, const RankRequest& request,
                              const RankAnswer& answer);

}  // namespace chipweave::codec
