// Other names of the built-in machines: those of the chips, of the vendors' servers and of cloud
// instances with the same chips and links (the adapters of an instance may differ).
#pragma once

#include <string_view>
#include <vector>

namespace chipweave::profiles {

struct Alias {
  std::string_view name;                   // in lower case, with '-' between words
  std::vector<std::string_view> profiles;  // several: the name alone does not tell which
};

// Sorted by name.
const std::vector<Alias>& aliases();
// In any case; '_' and ' ' count as '-'. Null if there is none.
const Alias* find_alias(std::string_view name);
// The names that mean this profile alone, sorted.
std::vector<std::string_view> aliases_of(std::string_view profile);

}  // namespace chipweave::profiles
