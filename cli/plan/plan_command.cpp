// chipweave plan: where a gang goes on a network, or several one after the other; by flags and
// files, answered with a table, or many by --batch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/overlays.hpp"
#include "cli/plan/flag_nodes.hpp"
#include "cli/plan/node_list.hpp"
#include "cli/plan/plan_engine.hpp"
#include "cli/plan/plan_explain.hpp"
#include "cli/plan/plan_flags.hpp"
#include "cli/plan/plan_launchers.hpp"
#include "cli/plan/render_plan.hpp"
#include "cli/plan/take_chips.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/gang/gang_file.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {
namespace {

// A gang with its plan.
struct Planned {
  codec::NamedGang gang;
  PlanEngine::Prepared prepared;
  PlanEngine::Decided decided;
};
struct PlannedLine {
  std::string answer;  // as the batch form prints it
  bool several = false;
  std::vector<Planned> gangs;
};

Result<Planned> plan_gang(PlanEngine& engine, codec::NamedGang gang, Timing& timing) {
  codec::PlanRequest& request = gang.request;
  auto prepared = engine.prepare(request);
  if (!prepared) return std::move(prepared).error();
  auto decided = timing.timed([&] { return PlanEngine::decide(request, *prepared); });
  if (!decided) return std::move(decided).error();
  if (request.explain) {
    auto explained = explain_plan(engine, request, *prepared, *decided, request.if_fails);
    if (!explained) return std::move(explained).error().in("if_fails");
    decided->details.explanation = *std::move(explained);
  }
  return Planned{std::move(gang), *std::move(prepared), *std::move(decided)};
}

std::string answer_of(const std::string& id, const Planned& planned) {
  return codec::write_plan_answer(id, planned.gang.request, planned.decided.plan,
                                  planned.decided.details);
}

Result<PlannedLine> plan_line(PlanEngine& engine, codec::PlanGangsLine line, Timing& timing) {
  if (!line.request) return std::move(line.request).error();
  PlannedLine out;
  out.several = line.request->several;
  std::vector<codec::NamedGang>& gangs = line.request->gangs;
  std::vector<std::string> answers;
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    const std::string name = gangs[i].name;
    auto planned = plan_gang(engine, std::move(gangs[i]), timing);
    if (!planned)
      return out.several ? std::move(planned).error().in("gang " + name)
                         : std::move(planned).error();
    for (std::size_t k = i + 1; k < gangs.size() && planned->decided.plan.fits; ++k)
      take_chips(planned->decided, planned->gang.request, planned->prepared, gangs[k].request);
    answers.push_back(
        answer_of(out.several ? JsonWriter().string(name).take() : line.id, *planned));
    out.gangs.push_back(*std::move(planned));
  }
  if (!out.several) {
    out.answer = std::move(answers.front());
    return out;
  }
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    gangs[i].name = out.gangs[i].gang.name;
    gangs[i].priority = out.gangs[i].gang.priority;
  }
  out.answer = codec::write_gangs_answer(line.id, gangs, answers);
  return out;
}

// An unusable line: its message begins with the key, or has it in parentheses; the key is from a
// flag or from a file.
Exit complain_of_line(const Error& error, const PlanFlags& flags,
                      const std::vector<GangMember>& members) {
  const std::string text = error.text();
  if (text.starts_with("if_fails")) return complain("--if-fails: " + text, Exit::usage);
  if (text.starts_with("gangs")) return complain_of_input(error, flags.gangs);
  const std::string gang = "gang.";
  const std::string key =
      text.starts_with(gang)
          ? text.substr(gang.size(), text.find_first_of(".[: ", gang.size()) - gang.size())
          : "";
  const auto member = std::find_if(members.begin(), members.end(),
                                   [&](const GangMember& m) { return m.key == key; });
  // Any of the parallel sizes may be wrong: the message names it.
  if (member != members.end() && key == "communicators") return complain(text, Exit::usage);
  if (member != members.end()) return complain(member->flag + ": " + text, Exit::usage);
  const bool of_gang = text.starts_with("gang") || text.find("(gang") != std::string::npos;
  if (!of_gang)
    return flags.network.empty() ? complain(error, Exit::unreadable)
                                 : complain_of_input(error, flags.network);
  if (!flags.gang.empty()) return complain_of_input(error, flags.gang);
  if (!flags.gangs.empty()) return complain_of_input(error, flags.gangs);
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

Result<std::string> page_of(const PlanFlags& flags, const Planned& planned) {
  const domain::Plan& plan = planned.decided.plan;
  const codec::PlanRequest& request = planned.gang.request;
  if (!flags.to.empty() && plan.fits) {
    warn_of_cpu_packages(flags.to, flags.cpu_packages);
    return plan_for_launcher(request, planned.prepared, planned.decided, flags.to,
                             flags.cpu_packages.value_or(1));
  }
  std::string page = plan.fits ? render_plan(request, plan, planned.decided.details) : "";
  if (const auto& why = planned.decided.details.explanation)
    page += (page.empty() ? "" : "\n") + render_explanation(request, *why);
  return page;
}

// Prints the plans in the form that -o and --to name.
Exit show(const PlanFlags& flags, const PlannedLine& line) {
  const bool all_fit = std::all_of(line.gangs.begin(), line.gangs.end(),
                                   [](const Planned& one) { return one.decided.plan.fits; });
  const Exit exit = all_fit ? Exit::fine : Exit::findings;
  if (flags.form == OutputForm::json) return print(line.answer + "\n") ? exit : Exit::unreadable;
  std::string pages;
  for (const Planned& one : line.gangs) {
    auto page = page_of(flags, one);
    if (!page) return complain("--to: " + page.error().text(), Exit::usage);
    if (line.several)
      pages += (pages.empty() ? "" : "\n") + gang_title(one.gang.name, one.gang.priority);
    const domain::Plan& plan = one.decided.plan;
    if (!plan.fits && line.several) pages += "does not fit: " + plan.reason + "\n";
    if (!plan.fits && !line.several) complain("does not fit: " + plan.reason);
    pages += *page;
  }
  return print(pages) ? exit : Exit::unreadable;
}

// The files that the flags name.
struct PlanInputs {
  codec::GangFile gang;
  std::string gangs;  // the list as JSON
  LiveCluster cluster;
  std::set<std::string, std::less<>> with_free;  // nodes with the chips of --free
};

// nullopt with the exit code set.
std::optional<PlanInputs> read_inputs(const PlanFlags& flags, Exit& exit) {
  PlanInputs out;
  std::string description;
  if (!flags.network.empty()) {
    auto content = read_input(flags.network, limits::kMaxPlanLineBytes);
    if (!content) {
      exit = complain_of_reading(content.error());
      return std::nullopt;
    }
    description = *std::move(content);
  }
  if (flags.live.any()) {
    auto cluster = read_live_cluster(flags.live, description, flags.import, flags.free);
    if (!cluster) {
      const Error& error = cluster.error();
      const bool no_job = !error.context.empty() && error.context.back() == "--job";
      exit = complain(error, no_job ? exit_for_object(error) : Exit::unreadable);
      return std::nullopt;
    }
    out.cluster = *std::move(cluster);
  } else {
    auto network = plan_network_of(description, flags.import, flags.free, flags.live.resource);
    if (!network) {
      exit = complain_of_input(network.error(), flags.network);
      return std::nullopt;
    }
    out.cluster.network = std::move(network->json);
    out.cluster.warnings = std::move(network->warnings);
    out.with_free = std::move(network->with_free);
  }
  const std::string& file = flags.gangs.empty() ? flags.gang : flags.gangs;
  if (file.empty()) return out;
  const auto text = read_input(file, limits::kMaxPlanLineBytes);
  if (!text) {
    exit = complain_of_reading(text.error());
    return std::nullopt;
  }
  Result<void> read;
  if (flags.gangs.empty()) {
    auto gang = codec::read_gang_file(*text);
    if (gang)
      out.gang = *std::move(gang);
    else
      read = std::move(gang).error();
  } else {
    auto gangs = codec::read_gangs_file(*text);
    if (gangs)
      out.gangs = *std::move(gangs);
    else
      read = std::move(gangs).error();
  }
  if (read) return out;
  exit = complain_of_input(read.error(), file);
  return std::nullopt;
}

Exit run_plan_flags(PlanFlags flags) {
  if (const std::string wrong = plan_usage_error(flags); !wrong.empty())
    return complain(wrong, Exit::usage);
  // Before any file is read, and again once the network is known: flags name nodes.
  auto members = gang_members(flags);
  if (!members) return complain(members.error(), Exit::usage);
  if (!flags.gangs.empty() && !members->empty())
    return complain(members->front().flag + " cannot be combined with --gangs", Exit::usage);
  Exit exit = Exit::fine;
  auto inputs = read_inputs(flags, exit);
  if (!inputs) return exit;
  if (auto put = put_paths(inputs->cluster.network, flags); !put)
    return complain(put.error(), Exit::usage);
  members = gang_members(flags);
  if (!members) return complain(members.error(), Exit::usage);
  if (!inputs->cluster.existing.empty())
    members->push_back({"--job", "existing", inputs->cluster.existing});
  for (const GangMember& member : *members) {
    const std::vector<std::string>& keys = inputs->gang.keys;
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) continue;
    return complain(
        member.flag + " cannot be combined with --gang: its file already has " + member.key,
        Exit::usage);
  }
  auto overlays = overlays_at(flags.overlays);
  if (!overlays) return complain(overlays.error(), exit_for(overlays.error()));
  for (const std::string& warning : inputs->cluster.warnings) warn(warning);
  Timing timing(flags.batch);
  PlanEngine engine(*std::move(overlays));
  for (const auto& [name, topology] : inputs->cluster.machines) engine.add_machine(name, topology);
  const std::string line =
      plan_line_of(flags, inputs->cluster.network, *members, inputs->gang, inputs->gangs);
  codec::PlanGangsLine parsed = codec::parse_plan_gangs(line);
  if (parsed.request) {
    for (const std::string& warning : subtract_running(inputs->with_free, parsed.request->gangs))
      warn(warning);
  }
  const auto planned = plan_line(engine, std::move(parsed), timing);
  if (!planned) return complain_of_line(planned.error(), flags, *members);
  remark_on_gone_nodes(planned->gangs.front().gang.request);
  exit = show(flags, *planned);
  timing.report();
  return exit;
}

}  // namespace

void register_plan(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* c =
      app.add_subcommand("plan", "place gangs on a network, from flags, files or a live cluster");
  auto* batch = add_batch_options(*c, flags->batch);
  add_plan_flags(*c, *flags, batch);
  add_overlay_option(*c, flags->overlays);
  add_output_option(*c, flags->form);
  add_examples(*c,
               "  chipweave plan --network topology.conf --free 8 --pods 64 --chips 8 "
               "--required spine\n"
               "  chipweave plan --network net.json --gang gang.json -o json\n"
               "  chipweave plan --scheduler http://127.0.0.1:8080 --network net.json --pods 4 "
               "--chips 8 --explain\n"
               "  chipweave plan --network net.json --pods 4 --chips 8 --tensor 8 --pipeline 2 "
               "--to mpi > run.sh\n"
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
      exit_code = complain(overlays.error(), exit_for(overlays.error()));
      return;
    }
    PlanEngine engine(*std::move(overlays));
    const auto answer = [&engine](const std::string& line, Timing& timing) -> BatchAnswer {
      codec::PlanGangsLine parsed = codec::parse_plan_gangs(line);
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
