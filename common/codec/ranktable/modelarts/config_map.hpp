// ConfigMap manifests for `kubectl apply -f`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chipweave::codec {

// The limit of Kubernetes for all values together.
inline constexpr std::size_t kMaxConfigMapBytes = 1U << 20U;

struct ConfigMap {
  std::string name;
  std::string ns;  // empty: the current namespace of kubectl
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<std::string, std::string>> data;

  std::size_t bytes() const;
};

enum class ManifestForm { yaml, json };

std::string write_config_map(const ConfigMap& map, ManifestForm form);

}  // namespace chipweave::codec
