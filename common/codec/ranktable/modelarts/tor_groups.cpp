#include "common/codec/ranktable/modelarts/tor_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>

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

std::vector<std::string> tor_groups(const std::vector<std::vector<std::string>>& tors) {
  std::map<std::string, std::size_t, NaturalLess> numbers;
  for (const auto& machine : tors) {
    for (const std::string& tor : machine) {
      if (!tor.empty()) numbers.try_emplace(tor, 0);
    }
  }
  std::vector<std::string> names;  // by number, in natural order
  for (auto& [name, number] : numbers) {
    number = names.size();
    names.push_back(name);
  }
  std::vector<std::size_t> parent(names.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const std::size_t none = names.size();
  std::vector<std::size_t> any(tors.size(), none);  // a switch of each machine
  for (std::size_t i = 0; i < tors.size(); ++i) {
    for (const std::string& tor : tors[i]) {
      if (tor.empty()) continue;
      const std::size_t a = root_of(parent, numbers.at(tor));
      const std::size_t b = any[i] == none ? a : root_of(parent, any[i]);
      // The root is always the first in natural order.
      parent[std::max(a, b)] = any[i] = std::min(a, b);
    }
  }
  std::vector<std::string> out;
  out.reserve(any.size());
  for (const std::size_t tor : any) out.push_back(tor == none ? "" : names[root_of(parent, tor)]);
  return out;
}

std::vector<std::string> tor_groups_of_pods(const std::vector<PodSwitches>& pods) {
  std::unordered_map<std::string_view, std::size_t> hosts;
  std::vector<std::vector<std::string>> tors;
  for (const PodSwitches& pod : pods) {
    const auto [at, fresh] = hosts.try_emplace(pod.host, tors.size());
    if (fresh) tors.emplace_back();
    std::vector<std::string>& all = tors[at->second];
    all.insert(all.end(), pod.tors.begin(), pod.tors.end());
  }
  const std::vector<std::string> groups = tor_groups(tors);
  std::vector<std::string> out;
  out.reserve(pods.size());
  for (const PodSwitches& pod : pods) out.push_back(groups[hosts.at(pod.host)]);
  return out;
}

}  // namespace chipweave::codec
