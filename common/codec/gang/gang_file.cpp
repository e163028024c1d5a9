#include "common/codec/gang/gang_file.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

Result<GangFile> read_gang_file(std::string_view text) {
  const auto document = parse_json(text, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!document) return document.error();
  const JsonValue gang(*document);
  if (!gang.is_object()) {
    return make_error(Errc::invalid_argument,
                      "must be the gang, a JSON object: {\"pods\":…, \"chips_per_pod\":…}");
  }
  if (gang["gang"]) {
    return make_error(Errc::invalid_argument,
                      "holds the key gang: give what is under it, or the whole to --batch");
  }
  GangFile out;
  for (const JsonValue member : gang) out.keys.emplace_back(member.name());
  if (!gang.empty()) out.members = gang.raw().substr(1, gang.raw().size() - 2);
  return out;
}

Result<std::string> read_gangs_file(std::string_view text) {
  const auto document = parse_json(text, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!document) return document.error();
  JsonValue list(*document);
  if (list.is_object()) list = list["gangs"];
  if (!list.is_array()) {
    return make_error(
        Errc::invalid_argument,
        "must be a list of gangs, [{\"name\":…, \"pods\":…}], or have it under gangs");
  }
  return std::string(list.raw());
}

}  // namespace chipweave::codec
