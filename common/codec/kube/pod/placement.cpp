#include "common/codec/kube/pod/placement.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/rfc3339_time.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

constexpr std::int64_t kVersion = 1;

std::int64_t read_int(std::string_view key, od::value value, std::int64_t most) {
  if (value.type() != od::json_type::number) wrong_type(key, "a number");
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS || number < 0 || number > most)
    wrong_type(key, "a whole number in range");
  return number;
}

void read_chips(od::value value, std::vector<PlacementChip>& to) {
  to.clear();
  if (!begin_array("chips", value)) return;
  for (auto element : value.get_array()) {
    od::value chip = element.value();
    bool numbered = false;
    PlacementChip read;
    if (!begin_object("chips", chip)) wrong_type("chips", "a list of objects");
    each_field(chip.get_object(), [&](std::string_view key, od::value v) {
      if (key == "id") return read_name("chips[].id", v, read.id);
      if (key == "container") return read_name("chips[].container", v, read.container);
      if (key != "index") return check(v, 3);
      read.index = static_cast<int>(read_int("chips[].index", v, limits::kMaxChipIndex));
      numbered = true;
    });
    if (!numbered) throw BadInput("a chip has no index");
    to.push_back(std::move(read));
    if (to.size() > limits::kMaxChips) throw BadInput("more chips than a machine has");
  }
  const auto before = [](const PlacementChip& a, const PlacementChip& b) {
    return a.index < b.index;
  };
  const auto same = [](const PlacementChip& a, const PlacementChip& b) {
    return a.index == b.index;
  };
  std::sort(to.begin(), to.end(), before);
  if (std::adjacent_find(to.begin(), to.end(), same) != to.end())
    throw BadInput("a chip stands twice");
}

}  // namespace

Result<PlacementNote> read_placement(std::string_view json) {
  PlacementNote note;
  std::int64_t version = 0;
  std::string when;
  std::string text(json);
  const auto read = read_document(text, [&](std::string_view key, od::value v) {
    if (key == "v") {
      version = read_int("v", v, 1'000'000);
      return;
    }
    if (key == "node") return read_string("node", v, note.node);
    if (key == "podUid") return read_string("podUid", v, note.pod_uid);
    if (key == "resource") return read_string("resource", v, note.resource);
    if (key == "chips") return read_chips(v, note.details);
    if (key == "decision") return read_string("decision", v, note.decision);
    if (key == "time") return read_string("time", v, when);
    if (key != "gbps") return check(v, 1);
    if (v.type() != od::json_type::number) wrong_type("gbps", "a number");
    note.gbps = v.get_double();
  });
  if (!read) return read.error();
  if (version != kVersion) {
    return make_error(Errc::unsupported, "version " + std::to_string(version) +
                                             " of the placement annotation is not known here");
  }
  note.time = seconds_of(when);
  for (const PlacementChip& chip : note.details) note.chips.push_back(chip.index);
  return note;
}

}  // namespace chipweave::codec
