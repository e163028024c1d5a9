// Kinds of links and host paths between two chips, their state, and their names.
#pragma once

#include <optional>
#include <string_view>

namespace chipweave::domain {

// Fast links first, then the host paths of `nvidia-smi topo -m`, best to worst.
enum class LinkKind {
  nvlink,
  nvswitch,
  xgmi,
  hccs,
  sio,  // two dies of one module
  ub,
  metaxlink,
  self,   // same chip
  board,  // two chips on one card
  pix,    // at most one PCIe bridge
  pxb,    // several PCIe bridges, no host bridge
  phb,    // through one host bridge
  node,   // between host bridges of one NUMA node
  sys,    // between NUMA nodes
};
inline constexpr int kLinkKindCount = 14;

constexpr bool is_host_path(LinkKind kind) { return kind >= LinkKind::self; }
constexpr bool is_fast(LinkKind kind) { return !is_host_path(kind); }
// Hardware forwards packets over third chips (AMD's data fabric does; NVLink and HCCS need a direct
// link or switch).
constexpr bool is_routed(LinkKind kind) { return kind == LinkKind::xgmi; }

// "NVLINK", "PIX", … — the names of the topology JSON.
std::string_view to_string(LinkKind kind);
// Exact upper-case names only; nullopt for anything else.
std::optional<LinkKind> parse_link_kind(std::string_view text);

enum class LinkState { up, degraded, down };
std::string_view to_string(LinkState state);

}  // namespace chipweave::domain
