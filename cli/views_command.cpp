// chipweave explain, chipweave nodes, chipweave pods, chipweave gangs: what a scheduler knows, for
// people.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/cluster/cluster_flags.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/render_gangs.hpp"
#include "cli/render_nodes.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/table.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/kube/access.hpp"

namespace chipweave::cli {
namespace {

struct ViewState {
  SchedulerAddress scheduler;
  ClusterFlags cluster;
  std::optional<ChosenConfig> config;  // of the cluster, if the scheduler is reached through it
  std::string ns;                      // of -n
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

// The object that a command names, e.g. pod default/train-0, and how the names of all are listed.
struct Named {
  const char* kind = "";
  std::string name;
  Result<std::vector<std::string>> (*all)(SchedulerClient& scheduler) = nullptr;
};

Result<std::vector<std::string>> names_of_pods(SchedulerClient& scheduler) {
  return scheduler.pods().transform([](const std::vector<codec::PodSummary>& pods) {
    std::vector<std::string> out;
    out.reserve(pods.size());
    for (const codec::PodSummary& pod : pods) out.push_back(pod.ns + "/" + pod.name);
    return out;
  });
}

Result<std::vector<std::string>> names_of_nodes(SchedulerClient& scheduler) {
  return scheduler.nodes().transform([](const std::vector<codec::NodeView>& nodes) {
    std::vector<std::string> out;
    out.reserve(nodes.size());
    for (const codec::NodeView& node : nodes) out.push_back(node.name);
    return out;
  });
}

Result<std::vector<std::string>> names_of_gangs(SchedulerClient& scheduler) {
  return scheduler.list("/api/v1/gangs")
      .and_then(codec::read_gang_summaries)
      .transform([](const std::vector<codec::GangSummary>& gangs) {
        std::vector<std::string> out;
        out.reserve(gangs.size());
        for (const codec::GangSummary& gang : gangs) out.push_back(gang.ns + "/" + gang.name);
        return out;
      });
}

// Objects of the same name in other namespaces, or else those whose names are near.
std::string meant(const std::string& typed, const std::vector<std::string>& all) {
  const std::string_view name = std::string_view(typed).substr(typed.find('/') + 1);
  std::vector<std::string_view> same;
  for (const std::string_view one : all)
    if (one.substr(one.find('/') + 1) == name) same.push_back(one);
  if (same.empty()) return did_you_mean(typed, {all.begin(), all.end()});
  return " (did you mean " + in_quotes(same.front()) + "?)";
}

// The scheduler's own error, or for an object that it does not know one with the names near it.
Exit view_failed(SchedulerClient& scheduler, const Error& error, const Named& named) {
  const bool no_route = error.message.find("no such path") != std::string::npos;
  if (named.name.empty() || error.code != Errc::not_found || no_route)
    return complain(error, Exit::unreadable);
  const auto all = named.all(scheduler);
  return complain(concat(named.kind, " ", in_quotes(named.name), " not found",
                         all ? meant(named.name, *all) : ""),
                  Exit::not_found);
}

// What the scheduler answers: its JSON, or the text of what `read` makes of it. named: empty for a
// list.
template <class Read, class Text>
Exit view(const ViewState& state, Fetch fetch, const std::string& target, const Named& named,
          const Read& read, const Text& text) {
  Result<Transport> transport = state.config ? connect_through_cluster(state.cluster, *state.config,
                                                                       state.scheduler.token_file)
                                             : connect(state.scheduler);
  if (!transport) return complain(transport.error(), exit_for(transport.error()));
  SchedulerClient scheduler(*std::move(transport));
  Result<std::string> body = (scheduler.*fetch)(target);
  if (!body) return view_failed(scheduler, body.error(), named);
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

// Where the command line names no namespace: -n, else that of the kubeconfig's context.
std::string default_namespace(const ViewState& state) {
  if (!state.ns.empty()) return state.ns;
  return state.config ? state.config->ns : "default";
}

// "ns/name" of the argument, or "" with an error message if it is not a valid pod name, so that
// only characters of object names reach a URL.
std::string pod_path(const ViewState& state) {
  const std::string& typed = state.pod;
  const std::size_t slash = typed.find('/');
  const std::string ns =
      slash == std::string::npos ? default_namespace(state) : typed.substr(0, slash);
  const std::string name = slash == std::string::npos ? typed : typed.substr(slash + 1);
  if (is_name_of(kPodCharacters, ns) && is_name_of(kPodCharacters, name)) return ns + "/" + name;
  complain("POD: expected NAME or NAMESPACE/NAME, got " + in_quotes(typed));
  return {};
}

Exit explain(const ViewState& state) {
  const std::string path = pod_path(state);
  if (path.empty()) return Exit::usage;
  return view(state, &SchedulerClient::get, "/api/v1/explain/" + path, {"pod", path, names_of_pods},
              codec::explain_as_text, [](std::string text) { return text; });
}

Exit pod(const ViewState& state) {
  const std::string path = pod_path(state);
  if (path.empty()) return Exit::usage;
  return view(state, &SchedulerClient::get, "/standalone/pods/" + path,
              {"pod", path, names_of_pods}, codec::read_pod_view, [](const auto& shown) {
                std::string out = shown.ns + "/" + shown.name + " on " +
                                  (shown.node.empty() ? "no node yet" : shown.node) + "\n";
                for (const auto& [key, value] : shown.annotations) out += key + ": " + value + "\n";
                return out;
              });
}

Exit node(const ViewState& state) {
  if (!is_name_of(kNodeCharacters, state.node))
    return complain("NODE: expected the name of a node, got " + in_quotes(state.node), Exit::usage);
  return view(state, &SchedulerClient::get, "/api/v1/nodes/" + state.node,
              {"node", state.node, names_of_nodes}, codec::read_node_view,
              [](const auto& shown) { return render_node(shown, colour_wanted()); });
}

Exit nodes(const ViewState& state) {
  if (!state.node.empty()) return node(state);
  return view(state, &SchedulerClient::list, "/api/v1/nodes", {}, codec::read_node_views,
              [](const auto& shown) { return render_nodes(shown, colour_wanted()); });
}

// A group of a LeaderWorkerSet is NAMESPACE/SET/INDEX.
Exit gangs(const ViewState& state) {
  if (state.pod.empty())
    return view(state, &SchedulerClient::list, "/api/v1/gangs", {}, codec::read_gang_summaries,
                [](const auto& shown) { return render_gangs(shown, colour_wanted()); });
  const bool named = state.pod.find('/') != std::string::npos;
  const std::string path = named ? state.pod : default_namespace(state) + "/" + state.pod;
  if (!is_name_of(kGangCharacters, path) || path.front() == '/' || path.back() == '/')
    return complain("GANG: expected NAME or NAMESPACE/NAME, got " + in_quotes(state.pod),
                    Exit::usage);
  return view(state, &SchedulerClient::get, "/api/v1/gangs/" + path, {"gang", path, names_of_gangs},
              codec::read_gang_summaries,
              [](const auto& shown) { return render_whole_gangs(shown, colour_wanted()); });
}

Exit pods(const ViewState& state) {
  if (!state.pod.empty()) return pod(state);
  return view(state, &SchedulerClient::list, "/api/v1/pods", {}, codec::read_pod_summaries,
              pods_text);
}

// Whether the command line itself has --scheduler; the environment has it for all commands.
bool has_scheduler_flag(const ViewState& state) {
  const std::string& url = state.scheduler.url;
  return !url.empty() && url != kube::process_environment()("CHIPWEAVE_SCHEDULER").value_or("");
}

// Which way to the scheduler the flags choose; Exit::fine: state has it.
Exit choose_way(ViewState& state) {
  const ClusterFlags& cluster = state.cluster;
  const bool direct = has_scheduler_flag(state);
  if (direct && cluster.has_flags())
    return complain(
        "--scheduler cannot be combined with --kubeconfig, --context and --scheduler-service",
        Exit::usage);
  if (!direct && cluster.any()) {
    auto config = choose_config(cluster);
    if (!config) return complain(config.error(), exit_for(config.error()));
    state.config = *std::move(config);
    return Exit::fine;
  }
  return state.scheduler.url.empty()
             ? complain("--scheduler is required, or --kubeconfig or --context for a cluster's",
                        Exit::usage)
             : Exit::fine;
}

CLI::App* add_view(CLI::App& app, const char* name, const char* what, Exit (*run)(const ViewState&),
                   Exit& exit_code, const std::shared_ptr<ViewState>& state) {
  CLI::App* command = app.add_subcommand(name, what);
  add_scheduler_option(*command, state->scheduler)->required(false);  // choose_way() checks it
  add_cluster_options(*command, state->cluster);
  state->cluster.plugin = app.get_name() == kPluginName;
  add_output_option(*command, state->form);
  add_examples(*command, std::string("  chipweave ") + name + " --scheduler http://127.0.0.1:8080");
  command->callback([state, run, &exit_code] {
    exit_code = choose_way(*state);
    if (exit_code == Exit::fine) exit_code = run(*state);
  });
  return command;
}

}  // namespace

void register_views(CLI::App& app, Exit& exit_code) {
  auto state = std::make_shared<ViewState>();
  CLI::App* command = add_view(app, "explain", "why a pod is where it is, or why it is pending",
                               explain, exit_code, state);
  add_value(*command, "POD", "[NAMESPACE/]NAME", state->pod,
            "the pod; default namespace: that of the kubeconfig's context, or default")
      ->required();
  add_value(*command, "-n,--namespace", "NAME", state->ns, "namespace of the pod");
  add_examples(*command,
               "  chipweave explain mindie/mindie-server-0-master-0 "
               "--scheduler http://127.0.0.1:8080\n"
               "  chipweave explain train-0 -n team --context production");
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
