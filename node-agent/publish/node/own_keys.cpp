#include "node-agent/publish/node/own_keys.hpp"

#include <algorithm>

namespace chipweave::agent {

bool may_own_label(std::string_view key) {
  return std::find(kOwnLabels.begin(), kOwnLabels.end(), key) != kOwnLabels.end() ||
         std::any_of(kOwnLabelPrefixes.begin(), kOwnLabelPrefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

bool may_own_annotation(std::string_view key) {
  return std::find(kOwnAnnotations.begin(), kOwnAnnotations.end(), key) != kOwnAnnotations.end();
}

}  // namespace chipweave::agent
