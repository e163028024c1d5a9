// Shared by the manifest tests: expands text and inspects the pods.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/manifest/manifest.hpp"

namespace chipweave::codec::test {

inline Manifest expand(std::string_view yaml) {
  Result<Manifest> manifest = expand_manifest(yaml);
  if (!manifest) {
    ADD_FAILURE() << manifest.error().text();
    return {};
  }
  return *std::move(manifest);
}

inline std::string refusal(std::string_view yaml) {
  const Result<Manifest> manifest = expand_manifest(yaml);
  return manifest ? "accepted" : manifest.error().text();
}

inline std::vector<std::string> names(const Manifest& manifest) {
  std::vector<std::string> out;
  for (const ManifestPod& pod : manifest.pods) out.push_back(pod.name);
  return out;
}

inline nlohmann::json object_of(const ManifestPod& pod) { return nlohmann::json::parse(pod.json); }

inline nlohmann::json labels_of(const ManifestPod& pod) {
  return object_of(pod)["metadata"].value("labels", nlohmann::json::object());
}

inline nlohmann::json annotations_of(const ManifestPod& pod) {
  return object_of(pod)["metadata"].value("annotations", nlohmann::json::object());
}

}  // namespace chipweave::codec::test
