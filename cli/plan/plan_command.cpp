// chipweave plan: where a gang goes on a network; one by flags and files, answered with a table, or
// many by --batch.
//
// The flags are turned into a line of the batch form, so that both forms share keys, checks and
// messages.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/overlays.hpp"
#include "cli/plan_engine.hpp"
#include "cli/render_plan.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/gang/gang_file.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/codec/network/plan_network.hpp"

namespace chipweave::cli {
namespace {

struct PlanFlags {
  BatchFlags batch;
  std::string network;
  codec::NetworkImportOptions import;
  std::optional<std::int64_t> free;
  std::string gang;
  std::optional<std::int64_t> pods, chips, min;
  std::optional<std::string> required, preferred, policy, objective, keep_spare;
  std::vector<std::string> slices, existing, failed, overlays;
  OutputForm form = OutputForm::text;
};

struct PlannedLine {
  std::string answer;  // as the batch form prints it
  codec::PlanRequest request;
  PlanEngine::Decided decided;
};

Result<PlannedLine> plan_line(PlanEngine& engine, codec::PlanLine line, Timing& timing) {
  if (!line.request) return std::move(line.request).error();
  codec::PlanRequest& request = *line.request;
  const auto prepared = engine.prepare(request);
  if (!prepared) return prepared.error();
  auto decided = timing.timed([&] { return PlanEngine::decide(request, *prepared); });
  if (!decided) return std::move(decided).error();
  std::string answer = codec::write_plan_answer(line.id, request, decided->plan, decided->details);
  return PlannedLine{std::move(answer), std::move(request), *std::move(decided)};
}

// A key of the gang, and the flag that it is from.
struct Member {
  std::string flag;
  std::string key;
  std::string json;
};

struct Counted {
  std::string name;
  std::int64_t count = 0;
};

// "rack=4", split at the last '='.
Result<Counted> counted(const std::string& text, const std::string& flag, const char* form) {
  const std::size_t equals = text.rfind('=');
  Counted out;
  if (equals != std::string::npos) {
    out.name = text.substr(0, equals);
    const auto count = parse_number<std::int64_t>(std::string_view(text).substr(equals + 1));
    out.count = count.value_or(0);
    if (count && !out.name.empty()) return out;
  }
  return make_error(Errc::invalid_argument,
                    std::string("expected ") + form + ", got " + in_quotes(text))
      .in(flag);
}

Result<std::string> slices_json(const std::vector<std::string>& slices) {
  JsonWriter json;
  json.begin_array();
  for (const std::string& text : slices) {
    const auto slice = counted(text, "--slice", "LEVEL=PODS");
    if (!slice) return Error(slice.error());
    json.begin_object().field("level", slice->name).key("size").integer(slice->count).end_object();
  }
  return json.end_array().take();
}

Result<std::string> existing_json(const std::vector<std::string>& existing) {
  JsonWriter json;
  json.begin_object();
  std::set<std::string> paths;
  for (const std::string& text : existing) {
    const auto here = counted(text, "--existing", "PATH=PODS");
    if (!here) return Error(here.error());
    if (!paths.insert(here->name).second) {
      return make_error(Errc::invalid_argument,
                        "expected each PATH once, got " + in_quotes(here->name) + " twice")
          .in("--existing");
    }
    json.key(here->name).integer(here->count);
  }
  return json.end_object().take();
}

Result<std::string> spare_json(const std::string& text) {
  const auto spare = counted(text, "--keep-spare", "LEVEL=NODES");
  if (!spare) return Error(spare.error());
  JsonWriter json;
  json.begin_object().field("level", spare->name).key("nodes").integer(spare->count);
  return json.end_object().take();
}

Result<std::vector<Member>> members_of(const PlanFlags& flags) {
  std::vector<Member> out;
  const auto number = [&](const char* flag, const char* key,
                          const std::optional<std::int64_t>& value) {
    if (value) out.push_back({flag, key, std::to_string(*value)});
  };
  const auto text = [&](const char* flag, const char* key,
                        const std::optional<std::string>& value) {
    if (value) out.push_back({flag, key, JsonWriter().string(*value).take()});
  };
  number("--pods", "pods", flags.pods);
  number("--chips", "chips_per_pod", flags.chips);
  number("--min", "min_member", flags.min);
  text("--required", "required_level", flags.required);
  text("--preferred", "preferred_level", flags.preferred);
  text("--policy", "policy", flags.policy);
  text("--objective", "objective", flags.objective);
  if (!flags.slices.empty()) {
    auto json = slices_json(flags.slices);
    if (!json) return std::move(json).error();
    out.push_back({"--slice", "slices", *std::move(json)});
  }
  if (!flags.existing.empty()) {
    auto json = existing_json(flags.existing);
    if (!json) return std::move(json).error();
    out.push_back({"--existing", "existing", *std::move(json)});
  }
  if (!flags.failed.empty())
    out.push_back({"--failed", "failed_nodes", JsonWriter().strings(flags.failed).take()});
  if (flags.keep_spare) {
    auto json = spare_json(*flags.keep_spare);
    if (!json) return std::move(json).error();
    out.push_back({"--keep-spare", "keep_spare", *std::move(json)});
  }
  return out;
}

std::string plan_line_of(const std::string& network, const std::vector<Member>& members,
                         const codec::GangFile& file) {
  JsonWriter line;
  line.begin_object().key("network").raw(network).key("gang").begin_object();
  for (const Member& member : members) line.key(member.key).raw(member.json);
  if (!file.members.empty()) line.raw(file.members);
  return line.end_object().end_object().take();
}

// An unusable line: its message begins with the key, or has it in parentheses; the key is from a
// flag or from a file.
Exit complain_of_line(const Error& error, const PlanFlags& flags,
                      const std::vector<Member>& members) {
  const std::string text = error.text();
  const std::string gang = "gang.";
  const std::string key =
      text.starts_with(gang)
          ? text.substr(gang.size(), text.find_first_of(".[: ", gang.size()) - gang.size())
          : "";
  const auto member =
      std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
  if (member != members.end()) return complain(member->flag + ": " + text, Exit::usage);
  const bool of_gang = text.starts_with("gang") || text.find("(gang") != std::string::npos;
  if (!of_gang) return complain_of_input(error, flags.network);
  if (!flags.gang.empty()) return complain_of_input(error, flags.gang);
  return complain(text, Exit::usage);
}

// Nodes that only a repair names are added to the request under a name that no node has.
void remark_on_gone_nodes(const codec::PlanRequest& request) {
  for (const codec::PlanNode& node : request.nodes) {
    if (!node.name.starts_with('\x01')) continue;
    remark("no node has the path " + codec::joined_path(node.path) +
           ": taken as one that has left the network");
  }
}

// The usage error that shows before any file is read; empty: none.
std::string plan_usage_error(const PlanFlags& flags) {
  if (flags.network.empty() || (flags.gang.empty() && !(flags.pods && flags.chips)))
    return "one of --batch FILE, --network FILE with --pods and --chips, or --network FILE with "
           "--gang FILE is required; see 'chipweave plan --help'";
  if (flags.network == "-" && flags.gang == "-")
    return "--network - cannot be combined with --gang -: both read standard input";
  return "";
}

Exit run_plan_flags(const PlanFlags& flags) {
  if (const std::string wrong = plan_usage_error(flags); !wrong.empty())
    return complain(wrong, Exit::usage);
  const auto members = members_of(flags);
  if (!members) return complain(members.error(), Exit::usage);
  const auto content = read_input(flags.network, limits::kMaxPlanLineBytes);
  if (!content) return complain(content.error(), Exit::unreadable);
  const auto network = codec::plan_network(*content, flags.import, flags.free);
  if (!network) return complain_of_input(network.error(), flags.network);
  codec::GangFile file;
  if (!flags.gang.empty()) {
    const auto text = read_input(flags.gang, limits::kMaxPlanLineBytes);
    if (!text) return complain(text.error(), Exit::unreadable);
    auto read = codec::read_gang_file(*text);
    if (!read) return complain_of_input(std::move(read).error(), flags.gang);
    file = *std::move(read);
  }
  for (const Member& member : *members) {
    if (std::find(file.keys.begin(), file.keys.end(), member.key) == file.keys.end()) continue;
    return complain(
        member.flag + " cannot be combined with --gang: its file already has " + member.key,
        Exit::usage);
  }
  auto overlays = overlays_at(flags.overlays);
  if (!overlays) return complain(overlays.error(), Exit::unreadable);
  for (const std::string& warning : network->warnings) warn(warning);
  Timing timing(flags.batch);
  PlanEngine engine(*std::move(overlays));
  const std::string line = plan_line_of(network->json, *members, file);
  const auto planned = plan_line(engine, codec::parse_plan_line(line), timing);
  if (!planned) return complain_of_line(planned.error(), flags, *members);
  remark_on_gone_nodes(planned->request);
  const domain::Plan& plan = planned->decided.plan;
  const bool json = flags.form == OutputForm::json;
  if (!json && !plan.fits) complain("does not fit: " + plan.reason);
  std::string page;
  if (json) {
    page = planned->answer + "\n";
  } else if (plan.fits) {
    page = render_plan(planned->request, plan, planned->decided.details);
  }
  if (!print(page)) return Exit::unreadable;
  timing.report();
  return plan.fits ? Exit::fine : Exit::findings;
}

// All flags of a single request. `batch` excludes them.
void add_plan_flags(CLI::App& command, PlanFlags& flags, CLI::Option* batch) {
  const auto option = [&](const char* name, auto& to, const char* says, const char* form) {
    return add_value(command, name, form, to, says)->excludes(batch);
  };
  // As often as it is given, one value each time.
  const auto repeated = [&](const char* name, std::vector<std::string>& to, const char* says,
                            const char* form) {
    option(name, to, says, form)->allow_extra_args(false);
  };
  option("--network", flags.network, "where nodes are: a description in any format; -: stdin",
         "FILE");
  for (CLI::Option* o : add_network_options(command, flags.import)) o->excludes(batch);
  option("--free", flags.free, "free chips of each node for which the file gives none", "CHIPS")
      ->check(CLI::Range(0, limits::kMaxChipsOfPod));
  option("--pods", flags.pods, "pods to place", "PODS");
  option("--chips", flags.chips, "chips of each pod", "CHIPS");
  option("--gang", flags.gang, "the gang as JSON, for roles, subgroups and the rest; -: stdin",
         "FILE");
  option("--min", flags.min, "how many must run, or none is placed; default: all", "PODS");
  option("--required", flags.required, "all pods inside one domain of this level", "LEVEL");
  option("--preferred", flags.preferred, "the same if that is possible", "LEVEL");
  repeated("--slice", flags.slices, "used domains of the level hold a multiple of so many pods",
           "LEVEL=PODS");
  option("--policy", flags.policy, "compact (default): fewest domains; even: equal shares",
         "POLICY");
  option("--objective", flags.objective,
         "what nodes and chips are chosen for: bandwidth (default), latency, all_to_all",
         "OBJECTIVE");
  option("--keep-spare", flags.keep_spare,
         "leave so many whole free nodes in each used domain if that is possible", "LEVEL=NODES");
  repeated("--existing", flags.existing, "pods of the gang that run on a node", "PATH=PODS");
  repeated("--failed", flags.failed, "repair: a node whose existing pods must move", "PATH");
}

}  // namespace

void register_plan(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* c = app.add_subcommand("plan", "place a gang on a network, from flags or a batch file");
  auto* batch = add_batch_options(*c, flags->batch);
  add_plan_flags(*c, *flags, batch);
  add_overlay_option(*c, flags->overlays);
  add_output_option(*c, flags->form);
  add_examples(*c,
               "  chipweave plan --network topology.conf --free 8 --pods 64 --chips 8 "
               "--required spine\n"
               "  chipweave plan --network net.json --gang gang.json -o json\n"
               "  echo '{\"id\":1,\"network\":{\"levels\":[\"rack\"],\"nodes\":[{\"name\":\"x1\","
               "\"path\":[\"r1\"],\"free\":8}]},\"gang\":{\"pods\":2,\"chips_per_pod\":4}}' | "
               "chipweave plan --batch -");
  c->callback([=, &exit_code] {
    if (batch->count() == 0) {
      exit_code = run_plan_flags(*flags);
      return;
    }
    auto overlays = overlays_at(flags->overlays);
    if (!overlays) {
      exit_code = complain(overlays.error(), Exit::unreadable);
      return;
    }
    PlanEngine engine(*std::move(overlays));
    const auto answer = [&engine](const std::string& line, Timing& timing) -> BatchAnswer {
      codec::PlanLine parsed = codec::parse_plan_line(line);
      std::string id = parsed.id;
      return {
          std::move(id),
          plan_line(engine, std::move(parsed), timing).transform([](const PlannedLine& planned) {
            return planned.answer;
          })};
    };
    exit_code = run_batch(flags->batch, limits::kMaxPlanLineBytes, answer);
  });
}

}  // namespace chipweave::cli
