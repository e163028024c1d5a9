// The batch lines of `chipweave defrag`: a network, the pods that run on it, and what should become
// free (docs/reference/cli.md).
//
// As strict as those of `plan`: an unknown or repeated key, a wrong type, a level or a node that
// the network does not have is an error that names the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/gang/plan_outcome.hpp"

namespace chipweave::codec {

struct RunningPodEntry {
  std::string name;
  std::size_t node = 0;  // position in network.nodes
  int chips = 0;
  std::optional<std::vector<int>> indices;  // of its chips, if they are listed
  bool movable = false;
  std::string gang;  // may be empty
  int keep_level = domain::kNoLevel;
};

struct DefragLineRequest {
  // Levels, nodes and, if the line has a gang to plan before and after, that gang.
  PlanRequest network;
  std::size_t nodes = 0;  // of the network; a gang's failed nodes may follow them
  bool has_gang = false;
  std::vector<RunningPodEntry> pods;
  int level = domain::kNoLevel;  // of the target; kNoLevel: whole nodes
  std::optional<int> domains;
  std::optional<int> max_moves;
};

using DefragLine = BatchRequest<DefragLineRequest>;
DefragLine parse_defrag_line(std::string_view line);

struct FreedDomain {
  std::vector<std::string> path;
  std::vector<std::size_t> nodes;  // the healthy ones
};

struct MoveEntry {
  std::size_t pod = 0;   // position in the request
  std::size_t from = 0;  // nodes
  std::size_t to = 0;
  std::optional<std::vector<int>> chips = std::nullopt;  // on the new node, if its machine is known
  std::optional<double> gbps_before = std::nullopt;
  std::optional<double> gbps_after = std::nullopt;
  int step = 0;
  bool stop_first = false;
};

struct DefragAnswer {
  std::vector<FreedDomain> freed;
  std::vector<FreedDomain> used_up;  // free ones that receive pods
  int free_before = 0;
  int free_after = 0;
  std::vector<MoveEntry> moves;
  std::int64_t chips_moved = 0;
  std::vector<std::string> gangs;  // whose pods move
  bool optimal = true;
  std::optional<int> bound_domains;
  std::optional<std::int64_t> bound_chips;
  std::int64_t whole_node_chips = 0;
  std::vector<int> whole_nodes_before;  // by level
  std::vector<int> whole_nodes_after;
  // The gang of the request, planned without and with the moves.
  std::optional<PlanOutcome> gang_before, gang_after;
  std::string reason;  // why nothing becomes free
};
std::string write_defrag_answer(const std::string& id, const DefragLineRequest& request,
                                const DefragAnswer& answer);

}  // namespace chipweave::codec
