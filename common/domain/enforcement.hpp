// Enforcement — who makes sure that a container gets the chips that were chosen for it. Each pool
// of nodes says it, because only one component may own a machine's chips towards the kubelet.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace chipweave::domain {

enum class Enforcement {
  none,                // the container gets whichever chips its device plugin picks
  dra,                 // a ResourceClaim names the chips
  device_plugin,       // chipweave-device-plugin answers the kubelet with them
  vendor_annotations,  // the vendor's device plugin reads them from the pod's annotations
};

inline constexpr std::array<std::string_view, 4> kEnforcements{"none", "dra", "device-plugin",
                                                               "vendor-annotations"};

inline std::string_view name_of(Enforcement how) {
  return kEnforcements[static_cast<std::size_t>(how)];
}
inline std::optional<Enforcement> enforcement_of(std::string_view name) {
  for (std::size_t i = 0; i < kEnforcements.size(); ++i) {
    if (kEnforcements[i] == name) return static_cast<Enforcement>(i);
  }
  return std::nullopt;
}

}  // namespace chipweave::domain
