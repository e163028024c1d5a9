#include "common/domain/link.hpp"

#include <array>
#include <cstddef>

namespace chipweave::domain {
namespace {

constexpr std::array<std::string_view, kLinkKindCount> kLinkNames = {
    "NVLINK", "NVSWITCH", "XGMI", "HCCS", "SIO", "UB",   "METAXLINK",
    "SELF",   "BOARD",    "PIX",  "PXB",  "PHB", "NODE", "SYS"};

}  // namespace

std::string_view to_string(LinkKind kind) { return kLinkNames[static_cast<std::size_t>(kind)]; }

std::optional<LinkKind> parse_link_kind(std::string_view text) {
  for (std::size_t i = 0; i < kLinkNames.size(); ++i) {
    if (kLinkNames[i] == text) return static_cast<LinkKind>(i);
  }
  return std::nullopt;
}

std::string_view to_string(LinkState state) {
  switch (state) {
    case LinkState::up:
      return "up";
    case LinkState::degraded:
      return "degraded";
    case LinkState::down:
      return "down";
  }
  return "down";
}

}  // namespace chipweave::domain
