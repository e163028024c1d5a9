#include "common/codec/network/table/domain_tree.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace chipweave::codec {

DomainTree::DomainTree(const domain::NetworkTable& table) {
  std::map<std::pair<std::size_t, std::string>, std::size_t> known;  // (parent, element) → domain
  for (std::size_t n = 0; n < table.nodes.size(); ++n) {
    const std::vector<std::string>& path = table.nodes[n].path;
    std::size_t at = kNone;
    std::size_t level = 0;
    for (; level < path.size() && !path[level].empty(); ++level) {
      if (at != kNone && domains_[at].element == path[level]) continue;
      const auto [found, fresh] = known.emplace(std::pair(at, path[level]), domains_.size());
      if (fresh) {
        if (at != kNone) domains_[at].children.push_back(domains_.size());
        domains_.push_back({path[level], path[level], level, at, {}, {}});
      }
      at = found->second;
    }
    const bool finer = std::any_of(path.begin() + static_cast<std::ptrdiff_t>(level), path.end(),
                                   [](const std::string& element) { return !element.empty(); });
    if (finer) ++cut_;
    homes_.push_back(at);
    if (at == kNone) {
      outside_.push_back(n);
    } else {
      domains_[at].nodes.push_back(n);
    }
  }
  make_names(table);
}

// Names get one more parent per round while two are equal; remaining duplicates get numbers.
void DomainTree::make_names(const domain::NetworkTable& table) {
  std::vector<std::size_t> above;
  for (const Domain& domain : domains_) above.push_back(domain.parent);
  for (std::size_t round = 0; round < table.levels.size(); ++round) {
    std::unordered_map<std::string, int> uses;
    for (const Domain& domain : domains_) ++uses[domain.name];
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      if (uses[domains_[i].name] == 1 || above[i] == kNone) continue;
      domains_[i].name = domains_[above[i]].element + "." + domains_[i].name;
      above[i] = domains_[above[i]].parent;
    }
  }
  std::set<std::string> taken;
  std::vector<Domain*> again;
  for (Domain& domain : domains_) {
    if (!taken.insert(domain.name).second) again.push_back(&domain);
  }
  std::size_t number = 2;
  for (Domain* domain : again) {
    const std::string base = domain->name;
    do {
      domain->name = base + "." + std::to_string(number++);
    } while (!taken.insert(domain->name).second);
  }
}

}  // namespace chipweave::codec
