#include "cli/ranktable/route/answer.hpp"

#include <array>
#include <optional>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

struct OutcomeWords {
  const char* name;         // in JSON
  const char* why_no_plan;  // "": there is one
};
// By RouteOutcome.
constexpr std::array<OutcomeWords, 5> kOutcomes = {{
    {"planned", ""},
    {"one_host", "all pods are on one machine: they keep their order"},
    {"no_topology", "no switch is known: pods keep their order"},
    {"cabinet_off",
     "not all pods have annotation cabinet: \"cabinet\", so they keep their order; use --cabinet "
     "to "
     "plan anyway"},
    {"waiting",
     "the job is not complete yet: pods are missing, or their machines or devices are not known"},
}};

const OutcomeWords& words_of(RouteOutcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

void write_crossings(JsonWriter& json, const char* key, const RouteAnswer& answer,
                     const std::vector<std::size_t>& crossings) {
  json.key(key).begin_object();
  for (std::size_t i = 0; i < answer.levels.size() && i < crossings.size(); ++i)
    json.field(answer.levels[i], crossings[i]);
  json.end_object();
}

void write_or_null(JsonWriter& json, const char* key, std::optional<std::size_t> value) {
  json.key(key).raw(value ? std::to_string(*value) : "null");
}

void write_route_pod(JsonWriter& json, const RouteAnswer& answer, std::size_t pod) {
  json.begin_object().field("name", answer.names[pod]).field("index", answer.indexes[pod]);
  json.field("host", answer.pods[pod].host).key("path").strings(answer.pods[pod].path);
  const bool waiting = answer.outcome == RouteOutcome::waiting;
  write_or_null(json, "rank", waiting ? std::nullopt : std::optional(answer.plan.rank_of[pod]));
  json.end_object();
}

std::string switch_path(const solver::RankPath& path) {
  std::string out;
  for (const std::string& element : path)
    out += (out.empty() ? "" : "/") + (element.empty() ? "-" : printable(element));
  return out.empty() ? "-" : out;
}

std::string crossings_text(const RouteAnswer& answer) {
  std::string out;
  for (std::size_t i = 0; i < answer.plan.crossings.size(); ++i) {
    out += concat((i == 0 ? "" : ", "), printable(answer.levels[i]), " ", answer.plan.crossings[i],
                  " (as given ", answer.plan.before[i], ")");
  }
  return out.empty() ? "-" : out;
}

}  // namespace

std::string RouteAnswer::master_address() const {
  if (outcome == RouteOutcome::waiting) return "";
  const std::size_t master = plan.master();
  if (job.empty() || task.empty()) return names[master];
  return concat(job, "-", task, "-", indexes[master], ".", job);
}

RouteOutcome outcome_of(solver::RouteState state) {
  switch (state) {
    case solver::RouteState::planned:
      return RouteOutcome::planned;
    case solver::RouteState::one_host:
      return RouteOutcome::one_host;
    case solver::RouteState::no_topology:
      break;
  }
  return RouteOutcome::no_topology;
}

std::string why_no_plan(RouteOutcome outcome) { return words_of(outcome).why_no_plan; }

std::string route_text(const RouteAnswer& answer, bool colours) {
  using Align = Table::Align;
  Table table({{"POD"}, {"INDEX", Align::right}, {"RANK", Align::right}, {"HOST"}, {"SWITCHES"}});
  const bool ranked = answer.outcome != RouteOutcome::waiting;
  for (std::size_t pod = 0; pod < answer.names.size(); ++pod) {
    const bool master = ranked && answer.plan.rank_of[pod] == 0;
    table.add({printable(answer.names[pod]), std::to_string(answer.indexes[pod]),
               ranked ? std::to_string(answer.plan.rank_of[pod]) : "-",
               printable(answer.pods[pod].host), switch_path(answer.pods[pod].path)},
              master ? Colour::bold : Colour::none);
  }
  std::string out = table.text(colours);
  if (!ranked) return out;
  out += "\nborders crossed  " + crossings_text(answer) + "\n";
  out += concat("MASTER_INDEX     ", answer.indexes[answer.plan.master()], "\n");
  out += "MASTER_ADDR      " + printable(answer.master_address()) + "\n";
  return out;
}

std::string route_json(const RouteAnswer& answer) {
  JsonWriter json;
  json.begin_object().field("outcome", words_of(answer.outcome).name);
  json.field("namespace", answer.ns).field("job", answer.job).field("task", answer.task);
  json.key("levels").strings(answer.levels).key("pods").begin_array();
  for (std::size_t pod = 0; pod < answer.names.size(); ++pod) write_route_pod(json, answer, pod);
  json.end_array();
  write_crossings(json, "crossings", answer, answer.plan.crossings);
  write_crossings(json, "input_crossings", answer, answer.plan.before);
  const bool waiting = answer.outcome == RouteOutcome::waiting;
  write_or_null(json, "master_index",
                waiting ? std::nullopt : std::optional(answer.indexes[answer.plan.master()]));
  json.field("master_addr", answer.master_address()).key("unknown").begin_array();
  for (const std::size_t pod : answer.plan.unknown) json.string(answer.names[pod]);
  json.end_array().key("warnings").strings(answer.warnings);
  return json.end_object().take() + "\n";
}

}  // namespace chipweave::cli
