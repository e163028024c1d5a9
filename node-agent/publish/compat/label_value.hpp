// Turns any text into the value of a Kubernetes label: at most 63 of [A-Za-z0-9._-], with a letter
// or digit at both ends.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::agent {

// Every other byte becomes '-', and long texts are cut: "NVIDIA H100 80GB HBM3" becomes
// "NVIDIA-H100-80GB-HBM3". Empty if nothing is left, which is valid, too.
std::string label_value(std::string_view text);
bool is_label_value(std::string_view text);

}  // namespace chipweave::agent
