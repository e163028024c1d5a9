// Built-in machine profiles: topology files written from public facts, one JSON file each in
// common/profiles/data/, embedded at build time. Adding a machine is adding a file
// (CONTRIBUTING.md).
#pragma once

#include <string_view>
#include <vector>

namespace chipweave::profiles {

struct Profile {
  std::string_view name;  // file name without .json, e.g. "hgx-v100-8"
  std::string_view json;  // chipweave topology JSON (common/codec)
};

// All profiles, sorted by name.
const std::vector<Profile>& all();
// Null if there is no profile of that name.
const Profile* find(std::string_view name);

}  // namespace chipweave::profiles
