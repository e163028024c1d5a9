// The table as a whole: its readers, version, status and counts.
#include <algorithm>
#include <unordered_set>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::int64_t kMinLlmServers = 2;
constexpr std::int64_t kMaxLlmServers = 60;

void count_is(Check& check, const Number& stated, std::size_t there, Place place,
              Severity severity) {
  if (!stated) return;
  if (*stated == 0) {
    check.add("RT011", severity, place, concat(place.member, " must not be 0"));
  } else if (*stated != static_cast<std::int64_t>(there)) {
    check.add("RT011", severity, place,
              concat(place.member, " is ", *stated, ", but the list has ", there));
  }
}

std::size_t devices_of(const Group& group) {
  std::size_t out = 0;
  for (const Server& server : group.servers) out += server.devices.size();
  return out;
}

void check_group_counts(Check& check, Severity severity) {
  const bool instances = check.is(Dialect::group_list) || check.is(Dialect::modelarts_1980);
  for (const Group& group : check.table.groups) {
    count_is(check, group.count, group.servers.size(),
             {group.source, instances ? "instance_count" : "server_count"}, severity);
    count_is(check, group.device_count, devices_of(group), {group.source, "device_count"},
             severity);
  }
}

void check_counts(Check& check) {
  const RankTable& table = check.table;
  const Severity severity =
      check.for_profile(Profile::mindie_motor) ? Severity::warning : Severity::error;
  check_group_counts(check, severity);
  const Place place{table.source, "server_count"};
  if (check.is(Dialect::group_list)) {
    count_is(check, table.count, table.groups.size(), {table.source, "group_count"}, severity);
  } else if (check.is(Dialect::vllm_ascend)) {
    // Processes, not entries: one per host.
    count_is(check, table.count, check.machines(), place, Severity::warning);
  } else if (table.groups.size() == 1 && !table.groups.front().count) {
    count_is(check, table.count, table.groups.front().servers.size(), place, severity);
  }
  if (!check.for_profile(Profile::mindie_llm)) return;
  const auto servers = static_cast<std::int64_t>(check.servers.size());
  if (!table.count) {
    check.error("RT011", {table.source}, "MindIE-LLM needs server_count");
  } else if (servers < kMinLlmServers || servers > kMaxLlmServers) {
    check.error("RT011", place, concat("MindIE-LLM takes 2 to 60 servers, these are ", servers));
  }
}

void check_status(Check& check) {
  const RankTable& table = check.table;
  if (!table.status || *table.status == "completed") return;
  check.error("RT010", {table.source, "status"}, "status is " + in_quotes(*table.status));
}

void check_version(Check& check) {
  const RankTable& table = check.table;
  const bool plain = check.is(Dialect::hccl_1_0) || check.is(Dialect::mindie_llm) ||
                     check.is(Dialect::mindspore_cluster) || check.is(Dialect::modelarts_1980);
  if (plain && table.version == "1.0") {
    const Device* device = check.first_sdid;
    if (table.super_pods) {
      check.warn("RT007", {table.source, "super_pod_list"},
                 "super_pod_list is ignored in a table of version 1.0");
    } else if (device != nullptr) {
      check.warn("RT007", {device->source, "super_device_id"},
                 "super_device_id is ignored in a table of version 1.0");
    }
  }
  if (check.is(Dialect::hccl_1_2) && !table.super_pods) {
    check.warn("RT007", {table.source, "version"},
               "version 1.2 without super_pod_list: no super pod features");
  }
  const bool fixed = check.is(Dialect::modelarts_global) || check.is(Dialect::modelarts_local);
  if (fixed && table.version && *table.version != "1.0") {
    check.error("RT070", {table.source, "version"},
                "version is " + in_quotes(*table.version) + " and must be \"1.0\"");
  }
}

}  // namespace

void check_table(Check& check) {
  if (!reads(check.profile, check.table.dialect)) {
    check.error("RT002", {check.table.source},
                concat(to_string(check.profile), " does not read tables of dialect ",
                       to_string(check.table.dialect)));
  }
  check_status(check);
  check_version(check);
  if (!check.is(Dialect::hccl_2_0)) check_counts(check);
}

}  // namespace chipweave::domain::ranktable
