#include "common/codec/modelarts/tor_groups.hpp"

#include <map>
#include <numeric>
#include <utility>

#include "common/base/natural_order.hpp"

namespace chipweave::codec {
namespace {

struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const { return natural_less(a, b); }
};

std::size_t root_of(std::vector<std::size_t>& parent, std::size_t at) {
  while (parent[at] != at) at = parent[at] = parent[parent[at]];
  return at;
}

}  // namespace

std::vector<std::string> tor_groups(
    const std::vector<const std::vector<RouteDevice>*>& devices_of_machines) {
  std::map<std::string, std::size_t, NaturalLess> tors;
  for (const auto* devices : devices_of_machines) {
    for (const RouteDevice& device : *devices) {
      if (!device.tor_ip.empty()) tors.try_emplace(device.tor_ip, 0);
    }
  }
  std::vector<std::string> names;  // by number, in natural order
  for (auto& [name, number] : tors) {
    number = names.size();
    names.push_back(name);
  }
  std::vector<std::size_t> parent(names.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  std::vector<std::size_t> any(devices_of_machines.size(), names.size());
  for (std::size_t i = 0; i < devices_of_machines.size(); ++i) {
    for (const RouteDevice& device : *devices_of_machines[i]) {
      if (device.tor_ip.empty()) continue;
      std::size_t a = root_of(parent, tors.at(device.tor_ip));
      std::size_t b = any[i] == names.size() ? a : root_of(parent, any[i]);
      if (a > b) std::swap(a, b);
      parent[b] = a;  // the root stays the first in natural order
      any[i] = a;
    }
  }
  std::vector<std::string> out;
  out.reserve(any.size());
  for (const std::size_t tor : any)
    out.push_back(tor == names.size() ? "" : names[root_of(parent, tor)]);
  return out;
}

}  // namespace chipweave::codec
