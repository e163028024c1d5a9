// FilterBody — the request kube-scheduler sends to /kube/filter and /kube/prioritize, as large as a
// real one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::bench {

// `source` is a count ("5000": node-0 to node-4999) or a file with one node name per line.
Result<std::vector<std::string>> node_names(const std::string& source);

// ExtenderArgs with nodeCacheCapable: a Pod of about 5 KB that requests `chips` of `resource`, and
// the first `nodes` names. Precondition: nodes <= names.size(), names without characters that JSON
// escapes.
std::string filter_body(const std::vector<std::string>& names, std::size_t nodes,
                        const std::string& resource, int chips);

}  // namespace chipweave::bench
