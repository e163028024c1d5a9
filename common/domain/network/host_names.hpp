// HostNames — finds hosts by the names that other files give them: as written, or a short name for
// a fully qualified one and the other way round (gpu01, gpu01.cluster.local), where only one host
// can be meant. Addresses are compared as written. Immutable; refers to the names that it was made
// of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace chipweave::domain {

class HostNames {
 public:
  struct Match {
    std::optional<std::size_t> index;          // of the name in the list
    std::vector<std::string_view> candidates;  // without an index: the hosts that it could be
    // "gpu01" could be gpu01.a or gpu01.b; empty if there are no candidates.
    std::string ambiguity(std::string_view name) const;
  };

  HostNames() = default;
  // Of equal names the first counts. Cost: O(length) a name.
  explicit HostNames(const std::vector<std::string_view>& names);

  std::optional<std::size_t> exact(std::string_view name) const;
  Match find(std::string_view name) const;

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> exact_;
  // What precedes a dot of a name → the names.
  std::unordered_map<std::string_view, std::vector<std::size_t>> shorter_;
};

}  // namespace chipweave::domain
