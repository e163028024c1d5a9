// chipweave explain, chipweave gangs: what a scheduler knows, for people.
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/cluster/scheduler_way.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/render_gangs.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/views/view.hpp"

namespace chipweave::cli {
namespace {

struct ViewState {
  SchedulerWay way;
  std::string ns;  // of -n
  std::string pod;
  OutputForm form = OutputForm::text;
};

// SchedulerClient::get or list.
using Fetch = Result<std::string> (SchedulerClient::*)(const std::string& target);

// What the scheduler answers: its JSON, or the text of what `read` makes of it. named: empty for a
// list.
template <class Read, class Text>
Exit view(const ViewState& state, Fetch fetch, const std::string& target, const Named& named,
          const Read& read, const Text& text) {
  Result<Transport> transport = connect(state.way);
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

// Names of gangs are values of labels and annotations.
constexpr const char* kGangCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";

bool is_gang_name(const std::string& name) {
  return !name.empty() && name.find_first_not_of(kGangCharacters) == std::string::npos;
}

Exit explain(const ViewState& state) {
  const std::string path = pod_path(state.pod, state.way.default_namespace(state.ns));
  if (path.empty()) return Exit::usage;
  return view(state, &SchedulerClient::get, "/api/v1/explain/" + path, {"pod", path, names_of_pods},
              codec::explain_as_text, [](std::string text) { return text; });
}

// A group of a LeaderWorkerSet is NAMESPACE/SET/INDEX.
Exit gangs(const ViewState& state) {
  if (state.pod.empty())
    return view(state, &SchedulerClient::list, "/api/v1/gangs", {}, codec::read_gang_summaries,
                [](const auto& shown) { return render_gangs(shown, colour_wanted()); });
  const bool named = state.pod.find('/') != std::string::npos;
  const std::string path =
      named ? state.pod : state.way.default_namespace(state.ns) + "/" + state.pod;
  if (!is_gang_name(path) || path.front() == '/' || path.back() == '/')
    return complain("GANG: expected NAME or NAMESPACE/NAME, got " + in_quotes(state.pod),
                    Exit::usage);
  return view(state, &SchedulerClient::get, "/api/v1/gangs/" + path, {"gang", path, names_of_gangs},
              codec::read_gang_summaries,
              [](const auto& shown) { return render_whole_gangs(shown, colour_wanted()); });
}

CLI::App* add_view(CLI::App& app, const char* name, const char* what, Exit (*run)(const ViewState&),
                   Exit& exit_code, const std::shared_ptr<ViewState>& state) {
  CLI::App* command = app.add_subcommand(name, what);
  add_way_options(app, *command, state->way);
  add_output_option(*command, state->form);
  add_examples(*command, std::string("  chipweave ") + name + " --scheduler http://127.0.0.1:8080");
  run_on_way(*command, state, exit_code, run);
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
  auto gang = std::make_shared<ViewState>();
  command =
      add_view(app, "gangs", "gangs, what they wait for, and their plans", gangs, exit_code, gang);
  add_value(*command, "GANG", "[[NAMESPACE/]NAME]", gang->pod, "show the plan of this one");
}

}  // namespace chipweave::cli
