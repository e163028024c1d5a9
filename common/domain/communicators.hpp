// Communicators — which ranks of a job communicate, and how much, as weights for ordering ranks.
// The ranks of one pod are consecutive, so pods are what is ordered.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::domain {

// Which members of a group exchange data.
enum class Pattern {
  ring,        // each with the next one, the last with the first
  all_to_all,  // each with every other
  tree,        // each with its parent in a binary tree by the lowest set bit, as NCCL's
};
inline constexpr std::array<std::string_view, 3> kPatternNames = {"ring", "all_to_all", "tree"};
constexpr std::optional<Pattern> parse_pattern(std::string_view text) {
  for (std::size_t i = 0; i < kPatternNames.size(); ++i) {
    if (kPatternNames[i] == text) return static_cast<Pattern>(i);
  }
  return std::nullopt;
}

// Divides the ranks into groups of `size` ranks that are `stride` apart: a + stride * k for k = 0
// .. size - 1. In a ring each member sends `weight` to the next one: a group of two counts twice,
// once in each direction, as in ring_crossings(). In the other patterns each pair that exchanges
// data counts `weight` once.
struct Communicator {
  std::string name;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t weight = 1;  // 0: does not count
  Pattern pattern = Pattern::ring;
};

// The patterns of the groups that follow from ParallelSizes.
struct ParallelPatterns {
  Pattern tensor = Pattern::ring;
  Pattern context = Pattern::ring;
  Pattern expert = Pattern::ring;
  Pattern data = Pattern::ring;
  Pattern expert_data = Pattern::ring;
  Pattern pipeline = Pattern::ring;
};

// Roughly what one rank sends in a training step, relative to a pipeline stage's output: tensor
// groups exchange activations several times per layer; context groups exchange keys and values, and
// expert groups tokens, once or twice per layer; gradients are reduced once per step, in buckets.
struct ParallelWeights {
  std::int64_t tensor = 64;
  std::int64_t context = 16;
  std::int64_t expert = 16;
  std::int64_t data = 4;
  std::int64_t expert_data = 4;
  std::int64_t pipeline = 1;
};

// Sizes in Megatron's order: rank = t + tensor * (c + context * (d + data * p)). Experts are spread
// over context and data ranks, e being the fast part of c + context * d; expert_data groups are
// those that hold the same experts.
struct ParallelSizes {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::int64_t data = 0;  // 0: the ranks of the job divided by the other sizes
  std::int64_t pipeline = 1;
  ParallelWeights weights;
  ParallelPatterns patterns = {};
};

// By default one ring through all ranks of a job, the data group.
struct Communicators {
  std::int64_t ranks_per_pod = 1;
  ParallelSizes sizes;
  std::vector<Communicator> list;  // replaces sizes unless it is empty
};

}  // namespace chipweave::domain
