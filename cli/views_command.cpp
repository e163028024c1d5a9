// chipweave explain, chipweave nodes, chipweave pods, chipweave gangs: what a scheduler knows, for
// people.
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/render_gangs.hpp"
#include "cli/render_nodes.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/table.hpp"

namespace chipweave::cli {
namespace {

struct ViewState {
  SchedulerAddress scheduler;
  std::string pod;
  std::string node;
  OutputForm form = OutputForm::text;
};

std::string pods_text(const std::vector<codec::PodSummary>& pods) {
  const auto figure = [](double gbps) { return gbps > 0 ? gbps_text(gbps) : std::string("-"); };
  Table table({{"POD"},
               {"STATE"},
               {"NODE"},
               {"CHIPS"},
               {"GB/s", Table::Align::right},
               {"BEST GB/s", Table::Align::right}});
  for (const codec::PodSummary& pod : pods) {
    table.add({pod.ns + "/" + pod.name, pod.state, pod.node.empty() ? "-" : pod.node,
               chip_list(pod.chips), figure(pod.gbps), figure(pod.best_gbps)},
              pod.node.empty() ? Colour::yellow : Colour::none);
  }
  return table.text(colour_wanted());
}

// SchedulerClient::get or list.
using Fetch = Result<std::string> (SchedulerClient::*)(const std::string& target);

// What the scheduler answers: its JSON, or the text of what `read` makes of it.
template <class Read, class Text>
Exit view(const ViewState& state, Fetch fetch, const std::string& target, const Read& read,
          const Text& text) {
  Result<Transport> transport = connect(state.scheduler);
  if (!transport) return complain(transport.error(), exit_for(transport.error()));
  SchedulerClient scheduler(*std::move(transport));
  Result<std::string> body = (scheduler.*fetch)(target);
  if (!body) return complain(body.error(), Exit::unreadable);
  if (state.form == OutputForm::json) {
    const bool ended = !body->empty() && body->back() == '\n';
    return printed(*body + (ended ? "" : "\n"));
  }
  const Result<std::string> shown = read(*body).transform(text);
  return shown ? printed(*shown) : complain(shown.error(), Exit::unreadable);
}

constexpr const char* kPodCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
// Such node names are possible without Kubernetes.
constexpr const char* kNodeCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

// Names of gangs are values of labels and annotations.
constexpr const char* kGangCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";

bool is_name_of(const char* characters, const std::string& name) {
  return !name.empty() && name.find_first_not_of(characters) == std::string::npos;
}

// "ns/name" of the argument, or "" with an error message if it is not a valid pod name, so that
// only characters of object names reach a URL.
std::string pod_path(const std::string& typed) {
  const std::size_t slash = typed.find('/');
  const std::string ns = slash == std::string::npos ? "default" : typed.substr(0, slash);
  const std::string name = slash == std::string::npos ? typed : typed.substr(slash + 1);
  if (is_name_of(kPodCharacters, ns) && is_name_of(kPodCharacters, name)) return ns + "/" + name;
  complain("POD: expected NAME or NAMESPACE/NAME, got " + in_quotes(typed));
  return {};
}

Exit explain(const ViewState& state) {
  const std::string path = pod_path(state.pod);
  if (path.empty()) return Exit::usage;
  return view(state, &SchedulerClient::get, "/api/v1/explain/" + path, codec::explain_as_text,
              [](std::string text) { return text; });
}

Exit pod(const ViewState& state) {
  const std::string path = pod_path(state.pod);
  if (path.empty()) return Exit::usage;
  return view(state, &SchedulerClient::get, "/standalone/pods/" + path, codec::read_pod_view,
              [](const auto& shown) {
                std::string out = shown.ns + "/" + shown.name + " on " +
                                  (shown.node.empty() ? "no node yet" : shown.node) + "\n";
                for (const auto& [key, value] : shown.annotations) out += key + ": " + value + "\n";
                return out;
              });
}

Exit node(const ViewState& state) {
  if (!is_name_of(kNodeCharacters, state.node))
    return complain("NODE: expected the name of a node, got " + in_quotes(state.node), Exit::usage);
  return view(state, &SchedulerClient::get, "/api/v1/nodes/" + state.node, codec::read_node_view,
              [](const auto& shown) { return render_node(shown, colour_wanted()); });
}

Exit nodes(const ViewState& state) {
  if (!state.node.empty()) return node(state);
  return view(state, &SchedulerClient::list, "/api/v1/nodes", codec::read_node_views,
              [](const auto& shown) { return render_nodes(shown, colour_wanted()); });
}

// A group of a LeaderWorkerSet is NAMESPACE/SET/INDEX.
Exit gangs(const ViewState& state) {
  if (state.pod.empty())
    return view(state, &SchedulerClient::list, "/api/v1/gangs", codec::read_gang_summaries,
                [](const auto& shown) { return render_gangs(shown, colour_wanted()); });
  const bool named = state.pod.find('/') != std::string::npos;
  const std::string path = named ? state.pod : "default/" + state.pod;
  if (!is_name_of(kGangCharacters, path) || path.front() == '/' || path.back() == '/')
    return complain("GANG: expected NAME or NAMESPACE/NAME, got " + in_quotes(state.pod),
                    Exit::usage);
  return view(state, &SchedulerClient::get, "/api/v1/gangs/" + path, codec::read_gang_summaries,
              [](const auto& shown) { return render_whole_gangs(shown, colour_wanted()); });
}

Exit pods(const ViewState& state) {
  if (!state.pod.empty()) return pod(state);
  return view(state, &SchedulerClient::list, "/api/v1/pods", codec::read_pod_summaries, pods_text);
}

CLI::App* add_view(CLI::App& app, const char* name, const char* what, Exit (*run)(const ViewState&),
                   Exit& exit_code, const std::shared_ptr<ViewState>& state) {
  CLI::App* command = app.add_subcommand(name, what);
  add_scheduler_option(*command, state->scheduler);
  add_output_option(*command, state->form);
  add_examples(*command, std::string("  chipweave ") + name + " --scheduler http://127.0.0.1:8080");
  command->callback([state, run, &exit_code] { exit_code = run(*state); });
  return command;
}

}  // namespace

void register_views(CLI::App& app, Exit& exit_code) {
  auto state = std::make_shared<ViewState>();
  CLI::App* command = add_view(app, "explain", "why a pod is where it is, or why it is pending",
                               explain, exit_code, state);
  add_value(*command, "POD", "[NAMESPACE/]NAME", state->pod,
            "the pod; namespace default if none is given")
      ->required();
  add_examples(*command,
               "  chipweave explain mindie/mindie-server-0-master-0 "
               "--scheduler http://127.0.0.1:8080");
  auto machine = std::make_shared<ViewState>();
  command = add_view(app, "nodes", "nodes with their free and unhealthy chips, and their faults",
                     nodes, exit_code, machine);
  add_value(*command, "NODE", "[NAME]", machine->node,
            "show this one, also what is down and mere notes");
  auto gang = std::make_shared<ViewState>();
  command =
      add_view(app, "gangs", "gangs, what they wait for, and their plans", gangs, exit_code, gang);
  add_value(*command, "GANG", "[[NAMESPACE/]NAME]", gang->pod, "show the plan of this one");
  auto one = std::make_shared<ViewState>();
  command = add_view(app, "pods", "pods with their chips and bandwidth, or the annotations of one",
                     pods, exit_code, one);
  add_value(*command, "POD", "[[NAMESPACE/]NAME]", one->pod,
            "show the annotations of this pod of a standalone scheduler");
}

}  // namespace chipweave::cli
