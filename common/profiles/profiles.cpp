#include "common/profiles/profiles.hpp"

#include <algorithm>

#include "common/profiles/profile_table.hpp"

namespace chipweave::profiles {

const std::vector<Profile>& all() {
  static const std::vector<Profile> table = [] {
    std::vector<Profile> out = profile_table();
    std::sort(out.begin(), out.end(),
              [](const Profile& l, const Profile& r) { return l.name < r.name; });
    return out;
  }();
  return table;
}

const Profile* find(std::string_view name) {
  const std::vector<Profile>& table = all();
  const auto it = std::lower_bound(table.begin(), table.end(), name,
                                   [](const Profile& p, std::string_view n) { return p.name < n; });
  return it != table.end() && it->name == name ? &*it : nullptr;
}

}  // namespace chipweave::profiles
