#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/plan/render_plan.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

using codec::PlanExplanation;
using codec::PlanOutcome;

constexpr std::size_t kNamesShown = 4;

std::string pods_text(int pods) { return concat(pods, pods == 1 ? " pod" : " pods"); }

std::string names(const std::vector<std::string>& list) {
  std::string out;
  for (std::size_t i = 0; i < std::min(list.size(), kNamesShown); ++i)
    out += (i == 0 ? "" : ", ") + list[i];
  if (list.size() > kNamesShown) out += concat(" and ", list.size() - kNamesShown, " more");
  return out;
}

// "rack 2, 8 nodes, 370.8 GB/s"
std::string figures(const std::vector<std::string>& levels, const PlanOutcome& outcome) {
  std::string out;
  for (std::size_t i = 0; i < outcome.domains.size(); ++i)
    out += concat(i == 0 ? "" : ", ", levels[i], " ", outcome.domains[i]);
  out += concat(out.empty() ? "" : ", ", outcome.nodes, outcome.nodes == 1 ? " node" : " nodes");
  if (outcome.gbps) out += ", " + gbps_text(*outcome.gbps) + " GB/s";
  return out;
}

std::string bound_line(const PlanExplanation::Bound& bound) {
  return concat(bound.level, ": ", bound.domains, " domains; the one with the most room, ",
                bound.roomiest.empty() ? "none" : bound.roomiest, ", has room for ", bound.room,
                " of ", bound.asked, bound.in_chips ? " chips" : " pods");
}

// What a plan without a constraint would be better by; empty: nothing.
std::string gain(const PlanOutcome& from, const PlanOutcome& to,
                 const std::vector<std::string>& levels) {
  if (!to.fits) return "";
  if (!from.fits) return concat("fits: ", pods_text(to.placed), " on ", figures(levels, to));
  std::vector<std::string> parts;
  if (to.placed != from.placed)
    parts.push_back(concat(pods_text(to.placed - from.placed), " more"));
  if (to.domains != from.domains)
    parts.push_back(figures(levels, to));
  else if (to.nodes != from.nodes)
    parts.push_back(concat(to.nodes, " nodes instead of ", from.nodes));
  constexpr double kNoticeable = 0.05;
  if (from.gbps && to.gbps && *to.gbps > *from.gbps + kNoticeable)
    parts.push_back(concat(gbps_text(*to.gbps), " GB/s instead of ", gbps_text(*from.gbps)));
  return joined(parts, "; ");
}

std::vector<std::string> relaxed_lines(const std::vector<std::string>& levels,
                                       const PlanExplanation& explanation) {
  std::vector<std::string> out;
  std::vector<std::string> nothing;
  for (const PlanExplanation::Relaxed& one : explanation.relaxed) {
    const std::string more = gain(explanation.outcome, one.outcome, levels);
    if (more.empty())
      nothing.push_back(one.constraint);
    else
      out.push_back("without " + one.constraint + ": " + more);
  }
  if (!nothing.empty()) out.push_back("nothing is gained without: " + joined(nothing, "; "));
  return out;
}

std::vector<std::string> failure_lines(const std::vector<std::string>& levels,
                                       const PlanExplanation& explanation) {
  std::vector<std::string> out;
  if (!explanation.no_failures.empty())
    out.push_back("if a node fails: not tried, " + explanation.no_failures);
  std::vector<const PlanExplanation::Failure*> replaced;
  for (const PlanExplanation::Failure& one : explanation.failures) {
    if (one.outcome.fits)
      replaced.push_back(&one);
    else
      out.push_back(concat("if ", one.node, " fails: ", one.outcome.reason));
  }
  if (replaced.empty()) return out;
  if (explanation.failures.size() == 1 || replaced.size() <= kNamesShown) {
    for (const PlanExplanation::Failure* one : replaced)
      out.push_back(concat("if ", one->node, " fails: its pods move to ", names(one->moves_to),
                           "; ", figures(levels, one->outcome)));
    return out;
  }
  out.push_back(
      concat("if one of ", replaced.size(), " nodes fails: its pods have room elsewhere"));
  return out;
}

}  // namespace

std::string render_explanation(const codec::PlanRequest& request,
                               const PlanExplanation& explanation) {
  std::vector<std::string> lines;
  for (const PlanExplanation::Bound& bound : explanation.bounds) lines.push_back(bound_line(bound));
  if (explanation.runner_up) {
    const PlanExplanation::RunnerUp& other = *explanation.runner_up;
    lines.push_back(concat("runner-up: ", pods_text(other.outcome.placed), " without ",
                           names(other.without),
                           other.instead.empty() ? "" : ", with " + names(other.instead), "; ",
                           figures(request.levels, other.outcome)));
  } else if (explanation.outcome.fits) {
    lines.emplace_back("runner-up: none, no other nodes have room");
  }
  for (std::string& line : relaxed_lines(request.levels, explanation))
    lines.push_back(std::move(line));
  for (std::string& line : failure_lines(request.levels, explanation))
    lines.push_back(std::move(line));
  if (explanation.not_tried > 0)
    lines.push_back(concat(explanation.not_tried, " further nodes of the plan were not tried"));
  std::string out = "Why:\n";
  for (const std::string& line : lines) out += wrapped("- " + line, 2) + "\n";
  return out;
}

std::string gang_title(const std::string& name, int priority) {
  return concat("== ", name, " (priority ", priority, ")\n");
}

}  // namespace chipweave::cli
