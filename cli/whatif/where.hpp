// Where — the nodes on which a pod of so many chips would fit now, or the places of several such
// pods, one after another.
#pragma once

#include <string>
#include <vector>

#include "cli/whatif/cluster_model.hpp"

namespace chipweave::cli {

struct Places {
  PodNeed need;
  int pods = 1;
  // Of one pod: the nodes that fit, best first. Of several: one seat for each pod that fits.
  std::vector<Seat> seats;
  Outlook outlook;  // of one pod; of several: of the first that does not fit

  bool all_fit() const {
    return pods == 1 ? !seats.empty() : static_cast<int>(seats.size()) == pods;
  }
};

// Of several pods each takes its chips from the next.
Places find_places(ClusterModel model, const PodNeed& need, int pods);

// The resource that all nodes with chips offer. Errors: there are several, or the named one is
// none of them. named: empty: none.
Result<std::string> resource_for(const ClusterModel& model, const std::string& named);

std::string places_text(const ClusterModel& model, const Places& places, bool colours);
std::string places_json(const ClusterModel& model, const Places& places);

}  // namespace chipweave::cli
