// Ages as kubectl prints them: "45s", "3m20s", "12m", "5h30m", "5d3h", "400d", "2y100d".
#pragma once

#include <chrono>
#include <string>

namespace chipweave::cli {

// Two units while the larger one is small, as k8s.io/apimachinery's HumanDuration. Clocks differ a
// little: one second before zero is "0s", earlier is "<invalid>".
std::string age_text(std::chrono::seconds age);

}  // namespace chipweave::cli
