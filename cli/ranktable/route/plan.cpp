#include "cli/ranktable/route/commands.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/route/answer.hpp"
#include "cli/ranktable/route/output.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

// Hosts without pods have no annotation to request it.
bool wants_topology(const RoutePlanFlags& flags, const RouteInputs& inputs) {
  return flags.cabinet || !inputs.job || inputs.job->cabinet;
}

bool can_plan(const RouteInputs& inputs) {
  return inputs.placed() && (inputs.network || (inputs.job && inputs.job->complete()));
}

void warn_of_unknown(RouteAnswer& answer) {
  constexpr std::size_t kShown = 5;
  const std::vector<std::size_t>& unknown = answer.plan.unknown;
  if (unknown.empty() || answer.outcome != RouteOutcome::planned) return;
  std::string names;
  for (std::size_t i = 0; i < unknown.size() && i < kShown; ++i)
    names += (i == 0 ? "" : ", ") + answer.names[unknown[i]];
  if (unknown.size() > kShown) names += ", …";
  answer.warnings.push_back(concat("the switch of their machines is not known, so they are last: ",
                                   names, " (", unknown.size(), " of ", answer.names.size(), ")"));
}

void keep_order(solver::RoutePlan& plan) {
  plan.order = solver::as_given(plan.order.size());
  plan.rank_of = plan.order;
  plan.crossings = plan.before;
}

// By the network; if it contains none of the machines, by the switches that devices report, as init
// containers would do with the tables.
RoutePlaces places_of(const RouteInputs& inputs, std::vector<std::string>& warnings) {
  const bool reported = inputs.job && inputs.job->complete();
  if (!inputs.network) return places_by_tors(inputs.machines);
  RoutePlaces out = places_in(*inputs.network, inputs.machines);
  for (const std::string& each : out.ambiguous) warnings.push_back("in the network, host " + each);
  const bool any = std::any_of(out.pods.begin(), out.pods.end(),
                               [](const solver::RoutePod& pod) { return !pod.path.empty(); });
  if (any || out.pods.empty()) return out;
  warnings.push_back("the network contains none of the machines; the first is " +
                     inputs.machines.front().host +
                     (reported ? ". Planned by the switches that devices report" : ""));
  return reported ? places_by_tors(inputs.machines) : out;
}

RouteAnswer answer_of(const RoutePlanFlags& flags, const RouteInputs& inputs) {
  RouteAnswer out;
  out.names = inputs.names;
  out.indexes = inputs.indexes;
  out.warnings = inputs.warnings;
  out.job = inputs.job ? inputs.job->job : flags.inputs.choice.job;
  out.task = inputs.job ? inputs.job->task : flags.inputs.choice.task;
  if (inputs.job) out.ns = inputs.job->ns;
  if (!can_plan(inputs)) {
    for (const RouteMachine& machine : inputs.machines) out.pods.push_back({machine.host, {}});
    return out;
  }
  RoutePlaces places = places_of(inputs, out.warnings);
  out.plan = solver::route_plan(places.levels.size(), places.pods);
  out.outcome = outcome_of(out.plan.state);
  if (!wants_topology(flags, inputs)) {
    keep_order(out.plan);
    out.outcome = RouteOutcome::cabinet_off;
  }
  out.levels = std::move(places.levels);
  out.pods = std::move(places.pods);
  warn_of_unknown(out);
  return out;
}

}  // namespace

Exit run_route_plan(const RoutePlanFlags& flags) {
  Result<RouteInputs> inputs = read_route_inputs(flags.inputs);
  if (!inputs) return fail(inputs.error());
  RouteAnswer answer = answer_of(flags, *inputs);
  if (!flags.out.empty()) {
    auto warnings = write_plan_files(flags, wants_topology(flags, *inputs), *inputs, answer);
    if (!warnings) return fail(warnings.error());
    for (std::string& warning : *warnings) answer.warnings.push_back(std::move(warning));
  }
  if (flags.form == OutputForm::text) {
    for (const std::string& warning : answer.warnings) warn(warning);
  }
  const std::string text =
      flags.form == OutputForm::json ? route_json(answer) : route_text(answer, colour_wanted());
  if (!print(text)) return Exit::unreadable;
  if (answer.outcome != RouteOutcome::planned) remark(why_no_plan(answer.outcome));
  return answer.outcome == RouteOutcome::waiting ? Exit::findings : Exit::fine;
}

}  // namespace chipweave::cli
