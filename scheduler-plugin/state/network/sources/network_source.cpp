#include "scheduler-plugin/state/network/sources/network_source.hpp"

#include <algorithm>

#include "common/base/limits.hpp"

namespace chipweave::sched {

std::optional<NetworkSource> network_source_of(std::string_view name) {
  const auto* const at = std::find(kNetworkSourceNames.begin(), kNetworkSourceNames.end(), name);
  if (at == kNetworkSourceNames.end()) return std::nullopt;
  return static_cast<NetworkSource>(at - kNetworkSourceNames.begin());
}

bool is_network_name(std::string_view text) {
  return !text.empty() && text.size() <= limits::kMaxNameBytes &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

NetworkPath known_path(NetworkPath path) {
  const bool any = std::any_of(path.begin(), path.end(),
                               [](const std::string& element) { return !element.empty(); });
  return any ? path : NetworkPath{};
}

}  // namespace chipweave::sched
