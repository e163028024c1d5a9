// LevelNames — looks up the levels that a gang names. Internal to gang_request.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"
#include "scheduler-plugin/model/gangs/gang_request.hpp"

namespace chipweave::sched {

inline Error wrong_request(std::string what) {
  return make_error(Errc::invalid_argument, std::move(what));
}

class LevelNames {
 public:
  // Both must outlive it.
  LevelNames(const std::vector<std::string>& levels, const LevelOf& level_of)
      : levels_(levels), level_of_(level_of) {}

  // domain::kNoLevel: a tier above all, which does not restrict anything. Errors name the known
  // levels.
  Result<int> find(std::string_view name) const;
  // The finest of them; kNoLevel of none.
  Result<int> finest(const std::vector<std::string>& names) const;
  // Coarsest first. Nothing may be above `required`, which is kNoLevel or a level.
  Result<std::vector<domain::Slice>> slices(const std::vector<domain::WishedSlice>& wished,
                                            int required) const;
  const std::string& name(int level) const { return levels_[static_cast<std::size_t>(level)]; }

 private:
  Result<int> find_tier(std::string_view number) const;

  const std::vector<std::string>& levels_;
  const LevelOf& level_of_;
};

}  // namespace chipweave::sched
