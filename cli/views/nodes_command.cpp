// chipweave nodes
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/cluster/scheduler_way.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/views/list_output.hpp"
#include "cli/views/nodes_view.hpp"
#include "cli/views/view.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::cli {
namespace {

using Nodes = std::vector<codec::NodeView>;

struct NodesState {
  SchedulerWay way;
  std::string node;
  bool watch = false;
  OutputForm form = OutputForm::text;
};

std::string table_of(const Nodes& nodes, const NodesState& state) {
  if (state.form == OutputForm::name) {
    std::string names;
    for (const codec::NodeView& node : nodes) names += node.name + "\n";
    return names;
  }
  return render_nodes(nodes, state.form == OutputForm::wide, colour_wanted(),
                      std::chrono::system_clock::now());
}

Result<std::string> text_of(const Nodes& nodes, const NodesState& state) {
  if (!is_structured(state.form)) return table_of(nodes, state);
  std::vector<std::string> items;
  items.reserve(nodes.size());
  for (const codec::NodeView& node : nodes) items.push_back(node.json);
  return list_text(items, state.form);
}

Exit follow(SchedulerClient& scheduler, const NodesState& state) {
  const auto changes = [&, before = Nodes()](const std::string& body, bool first) mutable {
    return codec::read_node_views(body).transform([&](const Nodes& now) {
      const Nodes changed = changed_nodes(std::exchange(before, now), now);
      return changed.empty() && !first ? std::string() : table_of(changed, state);
    });
  };
  return watch(scheduler, "/api/v1/nodes", state.form != OutputForm::name, changes);
}

Result<std::string> node_text(const std::string& body) {
  const auto node = codec::read_node_view(body);
  if (!node) return node.error();
  std::optional<domain::NodeTopology> topology;
  if (!node->topology.empty()) {
    auto imported = codec::import_topology_json(node->topology, {});
    if (!imported) return std::move(imported).error().in("the topology of " + node->name);
    topology = std::move(imported->topology);
  }
  return render_node(*node, topology ? &*topology : nullptr, colour_wanted(),
                     std::chrono::system_clock::now());
}

Exit one_node(SchedulerClient& scheduler, const NodesState& state) {
  const auto body = scheduler.get("/api/v1/nodes/" + state.node + "?topology=1");
  if (!body) return view_failed(scheduler, body.error(), {"node", state.node, names_of_nodes});
  if (state.form == OutputForm::name) return printed(state.node + "\n");
  const auto shown = is_structured(state.form) ? item_text(*body, state.form) : node_text(*body);
  return shown ? printed(*shown) : complain(shown.error(), Exit::unreadable);
}

Exit run_nodes(const NodesState& state) {
  if (!state.node.empty() && !is_node_name(state.node))
    return complain("NODE: expected the name of a node, got " + in_quotes(state.node), Exit::usage);
  if (const std::string why = watch_error(state.watch, state.form, state.node); !why.empty())
    return complain(why, Exit::usage);
  Result<Transport> transport = connect(state.way);
  if (!transport) return complain(transport.error(), exit_for(transport.error()));
  SchedulerClient scheduler(*std::move(transport));
  if (!state.node.empty()) return one_node(scheduler, state);
  if (state.watch) return follow(scheduler, state);
  const auto nodes = scheduler.nodes();
  if (!nodes) return complain(nodes.error(), exit_for(nodes.error()));
  const auto text = text_of(*nodes, state);
  return text ? printed(*text) : complain(text.error(), Exit::unreadable);
}

}  // namespace

void register_nodes(CLI::App& app, Exit& exit_code) {
  auto state = std::make_shared<NodesState>();
  CLI::App* command = app.add_subcommand(
      "nodes", "nodes with their free and unhealthy chips, and their faults; or one, chip by chip");
  add_value(*command, "NODE", "[NAME]", state->node,
            "only this one: each chip, also what is down and mere notes");
  add_watch_option(*command, state->watch);
  add_way_options(app, *command, state->way);
  add_list_output_option(*command, state->form);
  add_examples(*command,
               "  chipweave nodes --scheduler http://127.0.0.1:8080\n"
               "  chipweave nodes gpu-1\n"
               "  chipweave nodes -o yaml");
  run_on_way(*command, state, exit_code, run_nodes);
}

}  // namespace chipweave::cli
