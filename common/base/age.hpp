// age_text — how long ago something was, as kubectl prints it in its column AGE.
#pragma once

#include <chrono>
#include <string>

namespace chipweave {

// "59s", "3m20s", "45m", "5h12m", "2d3h", "400d", "2y5d"; negative ones (clocks differ): "0s".
// Source: k8s.io/apimachinery/pkg/util/duration, HumanDuration.
std::string age_text(std::chrono::seconds age);

}  // namespace chipweave
