// Renders networks: a summary by level, and the list of nodes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/network_table.hpp"

namespace chipweave::cli {

struct LevelSummary {
  std::string name;
  std::size_t domains = 0;
  // Nodes per domain; the median of an even number is the lower of the two. 0 without domains.
  std::size_t smallest = 0;
  std::size_t median = 0;
  std::size_t largest = 0;
  std::size_t outside = 0;  // nodes without a known domain on this level
};

struct NetworkSummary {
  std::size_t nodes = 0;
  std::vector<LevelSummary> levels;
  std::vector<LevelSummary> accelerator_levels;
  std::size_t nodes_with_rails = 0;
  std::size_t most_rails = 0;
};

NetworkSummary summarize(const domain::NetworkTable& table);

std::string render_network(const NetworkSummary& summary, const std::string& format);
std::string network_summary_json(const NetworkSummary& summary, const std::string& format,
                                 const std::vector<std::string>& warnings);
// One row per node: name and path.
std::string render_network_nodes(const domain::NetworkTable& table);

}  // namespace chipweave::cli
