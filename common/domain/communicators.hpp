// Communicators — which ranks of a job talk to each other, and how much: what an order of ranks is
// weighed by. Ranks of one pod are consecutive, so that what is ordered are pods.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chipweave::domain {

// Every rank is in one group: those of `size` ranks that are `stride` apart, k = 0 .. size - 1 in
// a + stride * k. A group is a ring: each member sends `weight` to the next one, the last to the
// first. So a group of two counts twice, once in each direction, as it does in ring_crossings().
struct Communicator {
  std::string name;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t weight = 1;  // 0: does not count
};

// What one rank sends in a step of training, roughly and relative to a pipeline stage's output:
// tensor groups exchange activations several times a layer; context groups keys and values, and
// experts tokens, once or twice a layer; gradients go round once a step, in buckets.
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
  std::int64_t data = 0;  // 0: what the other sizes leave of the job
  std::int64_t pipeline = 1;
  ParallelWeights weights;
};

// As it stands: one ring through all ranks of a job, the data group.
struct Communicators {
  std::int64_t ranks_per_pod = 1;
  ParallelSizes sizes;
  std::vector<Communicator> list;  // takes the place of sizes unless it is empty
};

}  // namespace chipweave::domain
