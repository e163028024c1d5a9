#include "common/solver/gang/chips/pod_chips.hpp"

#include <algorithm>
#include <string>

#include "common/solver/chips/sets/rules.hpp"

namespace chipweave::solver {

Result<void> check_pod_chips(const domain::NodeTopology& machine,
                             const std::vector<int>& pod_chips) {
  const Wiring wiring(machine);
  const Rules rules(wiring);
  const bool distributed =
      std::count_if(pod_chips.begin(), pod_chips.end(), [](int n) { return n > 0; }) > 1;
  for (std::size_t pod = 0; pod < pod_chips.size(); ++pod) {
    const int asked = pod_chips[pod];
    if (asked == 0 || rules.legal_size(asked, distributed)) continue;
    std::string sizes;
    for (int size = 1; size <= machine.chip_count(); ++size) {
      if (rules.legal_size(size, distributed))
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    }
    return make_error(Errc::invalid_argument,
                      std::to_string(asked) + (asked == 1 ? " chip" : " chips") +
                          " asked, legal sizes" + (distributed ? " of a distributed job" : "") +
                          " are " + sizes)
        .in("pod_chips[" + std::to_string(pod) + "]");
  }
  return {};
}

}  // namespace chipweave::solver
