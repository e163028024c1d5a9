// Names of Kubernetes objects.
#pragma once

#include <string_view>

namespace chipweave {

// RFC 1123: labels of [a-z0-9-] that begin and end with a letter or digit; a subdomain is labels
// joined by dots.
bool is_dns_label(std::string_view text);
bool is_dns_subdomain(std::string_view text);

}  // namespace chipweave
