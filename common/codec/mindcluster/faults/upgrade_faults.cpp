#include "common/codec/mindcluster/faults/upgrade_faults.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/go_json.hpp"
#include "common/codec/mindcluster/members.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::mindcluster {
namespace {

void append_reason(JsonWriter& out, const UpgradeReason& reason) {
  out.begin_object()
      .key("upgrade_time")
      .integer(reason.time)
      .field("fault_code", reason.code)
      .field("fault_level", reason.level)
      .field("upgrade_type", reason.type)
      .end_object();
}

std::vector<UpgradeReason> reasons_of(const Members& chips, const std::string& name) {
  std::vector<UpgradeReason> out;
  for (const Json& value : chips.list(name.c_str(), kMostUpgradeReasons)) {
    const Members reason(value, name, chips.problems());
    out.push_back({reason.integer("upgrade_time", std::int64_t{0}), reason.text("fault_code"),
                   reason.text("fault_level"), reason.text("upgrade_type")});
  }
  return out;
}

}  // namespace

std::string write_upgrade_faults(std::string_view prefix, const UpgradeFaults& faults) {
  std::map<std::string, const std::vector<UpgradeReason>*> by_name;
  for (const auto& [chip, reasons] : faults) by_name[chip_name(prefix, chip)] = &reasons;
  JsonWriter out;
  out.begin_object();
  for (const auto& [name, reasons] : by_name) {
    out.key(name).begin_array();
    for (const UpgradeReason& reason : *reasons) append_reason(out, reason);
    out.end_array();
  }
  out.end_object();
  return go_form(out.text());
}

Result<UpgradeFaults> read_upgrade_faults(std::string_view prefix, std::string_view text) {
  UpgradeFaults out;
  if (text.empty()) return out;
  const Result<Json> value = parse_text(text);
  if (!value) return value.error();
  JsonProblems problems;
  const Members chips(*value, "", problems);
  if (problems.any()) return problems.error();
  if (value->size() > kMostListedChips) {
    return make_error(Errc::limit_exceeded,
                      "has more than " + std::to_string(kMostListedChips) + " chips");
  }
  for (const auto& [name, ignored] : value->items()) {
    const auto chip = chip_of_name(prefix, name);
    if (chip) {
      out[*chip] = reasons_of(chips, name);
    } else {
      problems.add(quoted_excerpt(name), "is no chip such as " + chip_name(prefix, 0));
    }
  }
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec::mindcluster
