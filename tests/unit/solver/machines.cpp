#include "tests/unit/solver/machines.hpp"

#include <stdexcept>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::test {

domain::NodeTopology profile(const std::string& name) {
  const profiles::Profile* p = profiles::find(name);
  if (p == nullptr) throw std::runtime_error("no profile " + name);
  auto t = codec::import_topology_json(p->json, {});
  if (!t) throw std::runtime_error(t.error().text());
  return std::move(t->topology);
}

std::vector<std::string> profile_names(int chips) {
  std::vector<std::string> out;
  for (const profiles::Profile& p : profiles::all()) {
    if (profile(std::string(p.name)).chip_count() <= chips) out.emplace_back(p.name);
  }
  return out;
}

}  // namespace chipweave::test
