// The required node affinity that keeps a pod to one node under any scheduler. kube-scheduler then
// looks at that node only.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec {

// The nodeSelectorTerms of
// spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution, as JSON, of a pod that
// has none.
std::string pin_terms(std::string_view node);

// The same of this Pod document: its own terms, each with the node added, because the API server
// allows no other change. A term without any requirement matches no node and stays as it is.
// Errors: invalid_argument.
Result<std::string> pin_terms(std::string_view pod_json, std::string_view node);

}  // namespace chipweave::codec
