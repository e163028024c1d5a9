// NetworkSource — where a description of the network comes from, and the sources as Network asks
// them: the levels that they name, and the place of a node on these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/network/label_families.hpp"

namespace chipweave::sched {

// The more specific first: of several sources it decides.
enum class NetworkSource : std::uint8_t {
  file,         // network-file
  configmap,    // network-config-map
  hypernodes,   // Volcano's HyperNodes
  kueue,        // Topology of Kueue
  kai,          // Topology of KAI
  koordinator,  // ClusterNetworkTopology
  labels,       // of Nodes, by family or by network-levels
  inventories,  // what agents report
};
inline constexpr std::size_t kNetworkSources = 8;
inline constexpr std::array<std::string_view, kNetworkSources> kNetworkSourceNames = {
    "file", "configmap", "hypernodes", "kueue", "kai", "koordinator", "labels", "inventories"};

constexpr std::string_view name_of(NetworkSource source) {
  return kNetworkSourceNames[static_cast<std::size_t>(source)];
}
std::optional<NetworkSource> network_source_of(std::string_view name);

using NetworkPath = std::vector<std::string>;  // one element a level; empty: unknown

struct SourceLevels {
  std::vector<domain::LabelLevel> levels;        // above the node, coarsest first
  std::vector<domain::LabelLevel> accelerators;  // of the accelerators' own interconnect
  std::string node;                              // what it calls the node's own level; may be empty
  friend bool operator==(const SourceLevels&, const SourceLevels&) = default;
};

struct SourcePlace {
  NetworkPath path;         // empty: the source does not know the node
  NetworkPath accelerator;  // likewise
};

// Levels stay as they are until take_levels(), so that places fit them.
class PlaceSource {
 public:
  PlaceSource() = default;
  PlaceSource(const PlaceSource&) = delete;
  PlaceSource& operator=(const PlaceSource&) = delete;
  virtual ~PlaceSource() = default;

  const SourceLevels& levels() const { return levels_; }
  virtual bool levels_changed() const = 0;
  virtual void take_levels() = 0;
  virtual SourcePlace place(const std::string& node) const = 0;

 protected:
  SourceLevels levels_;
};

// A name that annotations and pages can show: not empty, at most limits::kMaxNameBytes, without
// control characters. Labels with other values count as unknown.
bool is_network_name(std::string_view text);
// Of only empty elements: an empty path.
NetworkPath known_path(NetworkPath path);

}  // namespace chipweave::sched
