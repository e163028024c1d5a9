#include "common/codec/gang/gang_file.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

Result<GangFile> read_gang_file(std::string_view text) {
  const Result<Json> value =
      parse_strict_json(text, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!value) return Error(value.error());
  if (!value->is_object()) {
    return make_error(Errc::invalid_argument,
                      "must be the gang, a JSON object: {\"pods\":…, \"chips_per_pod\":…}");
  }
  if (value->contains("gang")) {
    return make_error(Errc::invalid_argument,
                      "holds the key gang: give what is under it, or the whole to --batch");
  }
  GangFile out;
  for (const auto& [key, unused] : value->items()) out.keys.push_back(key);
  out.members = value->dump();
  out.members = out.members.substr(1, out.members.size() - 2);
  return out;
}

}  // namespace chipweave::codec
