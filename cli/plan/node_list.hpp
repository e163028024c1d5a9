// A network description that is a list of Kubernetes objects, as kubectl prints them: what its
// Nodes offer and its Pods request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"
#include "common/codec/network/plan_network.hpp"

namespace chipweave::cli {

// codec::plan_network(), and of `kubectl get nodes -o json`, `kubectl get nodes,pods -o json` or
// the same in YAML: accelerators that nodes offer and no pod of the list requests are free, and
// nodes that are cordoned or not ready take no pods, with a warning that names them. resource: of
// the accelerators; empty: those of the vendors that chipweave knows.
Result<codec::PlanNetwork> plan_network_of(const std::string& description,
                                           const codec::NetworkImportOptions& options,
                                           std::optional<std::int64_t> free,
                                           const std::string& resource);

}  // namespace chipweave::cli
