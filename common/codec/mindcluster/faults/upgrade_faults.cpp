#include "common/codec/mindcluster/faults/upgrade_faults.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/mindcluster/go_json.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"

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

std::vector<UpgradeReason> reasons_of(const JsonObject& chips, std::string_view name) {
  std::vector<UpgradeReason> out;
  for (const JsonValue value : chips.array(name, kMaxUpgradeReasons)) {
    const JsonObject reason = JsonObject::tolerant(value, chips.problems());
    out.push_back({reason.integer_or("upgrade_time", std::int64_t{0}),
                   reason.text("fault_code").value_or(""), reason.text("fault_level").value_or(""),
                   reason.text("upgrade_type").value_or("")});
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
  const Result<JsonTree> document = parse_document(text);
  if (!document) return document.error();
  const JsonValue map(*document);
  JsonProblems problems;
  const JsonObject chips = JsonObject::tolerant(map, problems);
  if (map.size() > kMaxListedChips) {
    return make_error(Errc::limit_exceeded,
                      "has more than " + std::to_string(kMaxListedChips) + " chips");
  }
  for (const JsonValue reasons : map) {
    const auto chip = chip_of_name(prefix, reasons.name());
    if (chip) {
      out[*chip] = reasons_of(chips, reasons.name());
    } else {
      problems.add(reasons, "expected the name of a chip such as " + chip_name(prefix, 0));
    }
  }
  if (problems.any()) return problems.error();
  return out;
}

}  // namespace chipweave::codec::mindcluster
