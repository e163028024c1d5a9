// chipweave explain, chipweave nodes, chipweave pods: what a scheduler knows, for people.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/table.hpp"

namespace chipweave::cli {
namespace {

struct ViewState {
  std::string scheduler;
  std::string pod;
  OutputForm form = OutputForm::text;
};

std::string nodes_text(const std::vector<codec::NodeView>& nodes, bool colours) {
  Table table({{"NODE"},
               {"MACHINE"},
               {"CHIPS", Table::Align::right},
               {"FREE"},
               {"UNHEALTHY"},
               {"PODS", Table::Align::right}});
  for (const codec::NodeView& node : nodes) {
    table.add({node.name, node.machine, std::to_string(node.chips), chip_list(node.free),
               chip_list(node.unhealthy), std::to_string(node.used.size())},
              node.unhealthy.empty() ? Colour::none : Colour::yellow);
  }
  return table.text(colours);
}

std::string pods_text(const std::vector<codec::PodView>& pods, bool colours) {
  Table table({{"POD"}, {"NODE"}, {"CHIPS"}, {"GB/s", Table::Align::right}});
  for (const codec::PodView& pod : pods) {
    const bool placed = pod.placement.has_value();
    table.add({pod.ns + "/" + pod.name, pod.node.empty() ? "pending" : pod.node,
               placed ? chip_list(pod.placement->chips) : "-",
               placed && pod.placement->gbps > 0 ? gbps_text(pod.placement->gbps) : "-"},
              pod.node.empty() ? Colour::yellow : Colour::none);
  }
  return table.text(colours);
}

// One GET: its JSON as it is, or `as_text` of it.
Exit view(const ViewState& state, const std::string& target,
          const std::function<Result<std::string>(const std::string&)>& as_text) {
  Result<Transport> transport = connect(state.scheduler);
  if (!transport) {
    complain(transport.error());
    return Exit::unreadable;
  }
  SchedulerClient scheduler(*std::move(transport));
  Result<std::string> body = scheduler.get(target);
  if (!body) {
    complain(body.error());
    return Exit::unreadable;
  }
  if (state.form == OutputForm::json) {
    const bool ended = !body->empty() && body->back() == '\n';
    return print(*body + (ended ? "" : "\n")) ? Exit::fine : Exit::unreadable;
  }
  const Result<std::string> text = as_text(*body);
  if (!text) {
    complain(text.error());
    return Exit::unreadable;
  }
  return print(*text) ? Exit::fine : Exit::unreadable;
}

Exit explain(const ViewState& state) {
  const std::size_t slash = state.pod.find('/');
  const bool plain =
      state.pod.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-./") == std::string::npos;
  const std::string ns = slash == std::string::npos ? "default" : state.pod.substr(0, slash);
  const std::string name = slash == std::string::npos ? state.pod : state.pod.substr(slash + 1);
  if (!plain || ns.empty() || name.empty() || name.find('/') != std::string::npos) {
    complain("'" + state.pod + "' is no pod; write NAME or NAMESPACE/NAME");
    return Exit::usage;
  }
  return view(state, "/api/v1/explain/" + ns + "/" + name,
              [](const std::string& body) { return codec::json_as_text(body); });
}

Exit nodes(const ViewState& state) {
  return view(state, "/api/v1/nodes", [](const std::string& body) {
    return codec::read_node_views(body).transform([](const std::vector<codec::NodeView>& nodes) {
      return nodes_text(nodes, colour_wanted());
    });
  });
}

Exit pods(const ViewState& state) {
  return view(state, "/standalone/pods", [](const std::string& body) {
    return codec::read_pod_views(body).transform(
        [](const std::vector<codec::PodView>& pods) { return pods_text(pods, colour_wanted()); });
  });
}

CLI::App* add_view(CLI::App& app, const char* name, const char* what, Exit (*run)(const ViewState&),
                   Exit& exit_code, std::shared_ptr<ViewState> state) {
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
  command->add_option("pod", state->pod, "the pod; namespace default if none is given")
      ->option_text("[NAMESPACE/]NAME")
      ->required();
  add_examples(*command,
               "  chipweave explain mindie/mindie-server-0-master-0 "
               "--scheduler http://127.0.0.1:8080");
  add_view(app, "nodes", "nodes with their free and unhealthy chips", nodes, exit_code,
           std::make_shared<ViewState>());
  add_view(app, "pods", "pods of a standalone scheduler with their chips", pods, exit_code,
           std::make_shared<ViewState>());
}

}  // namespace chipweave::cli
