#include "common/codec/gang/combined_levels.hpp"

#include <map>

namespace chipweave::codec {
namespace {

using Path = std::vector<std::string>;

Path prefix(const Path& path, std::size_t length) {
  Path out(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(std::min(length, path.size())));
  out.resize(length);
  return out;
}

// Whether the accelerators' domains fit between levels at - 1 and at: each inside one domain above,
// and each domain below inside one of them.
bool nests(const PlanRequest& request, const std::vector<Path>& accelerators, std::size_t at) {
  std::map<std::string, Path> above;
  std::map<Path, const Path*> below;
  for (std::size_t i = 0; i < request.nodes.size(); ++i) {
    const Path& path = request.nodes[i].path;
    if (at < request.switch_levels) {
      const auto [it, fresh] = below.try_emplace(prefix(path, at + 1), &accelerators[i]);
      if (!fresh && *it->second != accelerators[i]) return false;
    }
    if (accelerators[i].empty() || accelerators[i].front().empty()) continue;
    const auto [it, fresh] = above.try_emplace(accelerators[i].front(), prefix(path, at));
    if (!fresh && it->second != prefix(path, at)) return false;
  }
  return true;
}

}  // namespace

void combine_levels(const std::vector<std::string>& accelerator_levels,
                    const std::vector<Path>& accelerators, bool asked, PlanRequest& request) {
  request.switch_levels = request.levels.size();
  for (PlanNode& node : request.nodes) node.place = node.path;
  if (accelerator_levels.empty()) return;
  std::size_t at = request.levels.size() + 1;
  while (at > 0 && !nests(request, accelerators, at - 1)) --at;
  request.nested = at > 0;
  if (!request.nested && !asked) {
    request.nested = true;  // the switches' tree alone is exact
    return;
  }
  const std::size_t position = at > 0 ? at - 1 : 0;
  const auto into = [&](Path& list, const Path& what) {
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(position), what.begin(), what.end());
  };
  for (std::size_t i = 0; i < request.nodes.size(); ++i) {
    Path& place = request.nodes[i].place;
    place.resize(request.switch_levels);
    into(place, prefix(accelerators[i], accelerator_levels.size()));
  }
  into(request.levels, accelerator_levels);
  request.accelerators_at = position;
  request.accelerator_levels = accelerator_levels.size();
}

}  // namespace chipweave::codec
