#include "common/codec/gang/plan_explanation.hpp"

#include "common/codec/gang/communicators_codec.hpp"

namespace chipweave::codec {
namespace {

void write_outcome(JsonWriter& out, const std::vector<std::string>& levels,
                   const PlanOutcome& outcome) {
  out.key("fits").boolean(outcome.fits).field("placed", outcome.placed);
  out.field("nodes", outcome.nodes);
  if (!outcome.domains.empty()) write_by_level(out, "domains", levels, outcome.domains);
  if (outcome.gbps) out.key("gbps").decimal(*outcome.gbps);
  if (!outcome.reason.empty()) out.field("reason", outcome.reason);
}

// What another plan has more (pods, GB/s) or fewer (nodes) of.
void write_gain(JsonWriter& out, const PlanOutcome& from, const PlanOutcome& to) {
  out.key("gain").begin_object().field("pods", to.placed - from.placed);
  if (from.fits && to.fits) out.field("nodes", from.nodes - to.nodes);
  if (from.gbps && to.gbps) out.key("gbps").decimal(*to.gbps - *from.gbps);
  out.end_object();
}

}  // namespace

void write_explanation(JsonWriter& out, const std::vector<std::string>& levels,
                       const PlanExplanation& explanation) {
  out.begin_object().key("bound_by").begin_array();
  for (const PlanExplanation::Bound& one : explanation.bounds) {
    out.begin_object().field("level", one.level).field("domains", one.domains);
    out.field("roomiest", one.roomiest).field(one.in_chips ? "chips" : "pods", one.room);
    out.field("of", one.asked).end_object();
  }
  out.end_array();
  if (explanation.runner_up) {
    const PlanExplanation::RunnerUp& other = *explanation.runner_up;
    out.key("runner_up").begin_object();
    write_outcome(out, levels, other.outcome);
    out.key("without").strings(other.without).key("instead").strings(other.instead).end_object();
  }
  out.key("relaxed").begin_array();
  for (const PlanExplanation::Relaxed& one : explanation.relaxed) {
    out.begin_object().field("constraint", one.constraint);
    write_outcome(out, levels, one.outcome);
    write_gain(out, explanation.outcome, one.outcome);
    out.end_object();
  }
  out.end_array().key("if_fails").begin_array();
  for (const PlanExplanation::Failure& one : explanation.failures) {
    out.begin_object().field("node", one.node);
    write_outcome(out, levels, one.outcome);
    out.key("moves_to").strings(one.moves_to).end_object();
  }
  out.end_array();
  if (!explanation.no_failures.empty()) out.field("if_fails_refused", explanation.no_failures);
  if (explanation.not_tried > 0) out.field("not_tried", explanation.not_tried);
  out.end_object();
}

}  // namespace chipweave::codec
