#include "scheduler-plugin/gang_settings.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/gangs/gang_object.hpp"
#include "scheduler-plugin/model/gangs/frameworks.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/setting_values.hpp"

namespace chipweave::sched {
namespace {

using Values = std::vector<std::string>;

Result<void> set_gang_kinds(Config& config, const Values& values) {
  const std::vector<std::string_view> known = codec::gang_settings();
  for (const std::string& name : values) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return make_error(Errc::invalid_argument, unknown_name("kind", name, known));
  }
  config.gang_kinds = values;
  return {};
}

Result<void> set_gate_frameworks(Config& config, const Values& values) {
  const std::vector<std::string_view> known = gang_frameworks();
  for (const std::string& name : values) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return make_error(Errc::invalid_argument, unknown_name("framework", name, known));
    if (gangs::framework_called(name)->one_node)
      return make_error(Errc::invalid_argument, "the pods of " + name +
                                                    " are placed on one node without a gate; "
                                                    "leave it out");
  }
  config.gate.frameworks = values;
  return {};
}

Result<void> set_max_spares(Config& config, const Values& values) {
  const auto number = parse_number<int>(values[0]);
  if (!number || *number < 0 || *number > kMaxGangSpares) {
    return make_error(Errc::invalid_argument, "must be a number from 0 to " +
                                                  std::to_string(kMaxGangSpares) + ", got " +
                                                  in_quotes(values[0]));
  }
  config.max_gang_spares = *number;
  return {};
}

Result<void> set_pinned_schedulers(Config& config, const Values& values) {
  for (const std::string& name : values) {
    if (!is_dns_subdomain(name))
      return make_error(
          Errc::invalid_argument,
          "expected the name of a scheduler, such as kai-scheduler, got " + in_quotes(name));
  }
  config.pinned_schedulers = values;
  return {};
}

Result<void> set_dlrover_topology(Config& config, const Values& values) {
  for (const std::string& name : values) {
    if (!is_dns_label(name))
      return make_error(Errc::invalid_argument, "expected a namespace, got " + in_quotes(name));
  }
  config.dlrover_topology = values;
  return {};
}

// "never", or a duration.
Result<void> set_limit(std::chrono::milliseconds& to, const std::string& value) {
  if (value == "never") {
    to = std::chrono::milliseconds(0);
    return {};
  }
  auto set = set_duration(to, value);
  if (set) return {};
  return make_error(set.error().code, set.error().message + "; or never");
}

Values show_limit(std::chrono::milliseconds limit) {
  return {limit.count() == 0 ? "never" : show_duration(limit)};
}

}  // namespace

std::vector<Setting> gang_settings() {
  return {
      {"gang-kinds",
       "frameworks whose owner objects of gangs are watched, for sizes, minima and topology", true,
       set_gang_kinds, [](const Config& c) { return c.gang_kinds; }},
      {"gang-plans", "store the plans of gangs in ConfigMaps, so that they outlive a restart",
       false, [](Config& c, const Values& v) { return set_flag(c.gang_plans, v[0]); },
       [](const Config& c) { return Values{show_flag(c.gang_plans)}; }, true},
      {"gate-frameworks",
       "frameworks whose pods wait for the plan of their gang behind a scheduling gate, where the "
       "webhook of /admission/gate is set up",
       true, set_gate_frameworks, [](const Config& c) { return c.gate.frameworks; }},
      {"plan-gangs",
       "plan gangs as a whole; false: their pods are placed one by one, and gates opened at once",
       false, [](Config& c, const Values& v) { return set_flag(c.plan_gangs, v[0]); },
       [](const Config& c) { return Values{show_flag(c.plan_gangs)}; }, true},
      {"gang-preemption",
       "evict pods of lower priority for a gang behind the gate that does not fit otherwise", false,
       [](Config& c, const Values& v) { return set_flag(c.gang_preemption, v[0]); },
       [](const Config& c) { return Values{show_flag(c.gang_preemption)}; }, true},
      {"fault-scheduling",
       "evict pods of gangs with the label fault-scheduling: force or grace whose node or chip has "
       "failed for 30 seconds, so that their controller makes them again",
       false, [](Config& c, const Values& v) { return set_flag(c.fault_scheduling, v[0]); },
       [](const Config& c) { return Values{show_flag(c.fault_scheduling)}; }, true},
      {"gang-hostfiles",
       "write the hostfile and rankfile of planned gangs for MPI into the ConfigMap that their "
       "pods "
       "name with chipweave.dev/hostfile",
       false, [](Config& c, const Values& v) { return set_flag(c.gang_hostfiles, v[0]); },
       [](const Config& c) { return Values{show_flag(c.gang_hostfiles)}; }, true},
      {"dlrover-topology",
       "namespaces in which DLRover's ConfigMap node-topology-config is kept up to date with the "
       "network",
       true, set_dlrover_topology, [](const Config& c) { return c.dlrover_topology; }},
      {"max-gang-spares",
       "how many spare places a gang may keep that asks for them by chipweave.dev/spares; no quota "
       "counts their chips",
       false, set_max_spares,
       [](const Config& c) { return Values{std::to_string(c.max_gang_spares)}; }},
      {"inject-rank",
       "give the containers of pods that get the gate the variable CHIPWEAVE_RANK, with the "
       "annotation chipweave.dev/rank",
       false, [](Config& c, const Values& v) { return set_flag(c.gate.inject_rank, v[0]); },
       [](const Config& c) { return Values{show_flag(c.gate.inject_rank)}; }, true},
      {"nominate-gangs",
       "tell kube-scheduler the nodes of planned gangs by status.nominatedNodeName of their pods, "
       "so that it looks at no other",
       false, [](Config& c, const Values& v) { return set_flag(c.nominate_gangs, v[0]); },
       [](const Config& c) { return Values{show_flag(c.nominate_gangs)}; }, true},
      {"gate-timeout",
       "let a gang that has waited so long behind its gates go without a plan, so that its pods "
       "count as unschedulable, for example for an autoscaler; default: never",
       false, [](Config& c, const Values& v) { return set_limit(c.gate_timeout, v[0]); },
       [](const Config& c) { return show_limit(c.gate_timeout); }},
      {"keep-chips-after",
       "keep chips that come free for the first gang in line once it has waited so long behind its "
       "gates, so that pods without a gate cannot keep taking them; never: they may",
       false, [](Config& c, const Values& v) { return set_limit(c.keep_chips_after, v[0]); },
       [](const Config& c) { return show_limit(c.keep_chips_after); }},
      {"pinned-schedulers",
       "schedulers (spec.schedulerName) that do not ask chipweave: pods behind the gate are pinned "
       "to their nodes by a node affinity when it is opened",
       true, set_pinned_schedulers, [](const Config& c) { return c.pinned_schedulers; }},
  };
}

}  // namespace chipweave::sched
