// chipweave pods
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "cli/cluster/scheduler_way.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/scheduler_client.hpp"
#include "cli/views/list_output.hpp"
#include "cli/views/pods_view.hpp"
#include "cli/views/view.hpp"

namespace chipweave::cli {
namespace {

using Pods = std::vector<codec::PodSummary>;

struct PodsState {
  SchedulerWay way;
  std::string pod;
  PodFilter filter;
  bool watch = false;
  OutputForm form = OutputForm::text;
};

std::string table_of(const Pods& pods, const PodsState& state) {
  if (state.form == OutputForm::name) {
    std::string names;
    for (const codec::PodSummary& pod : pods) names += pod.ns + "/" + pod.name + "\n";
    return names;
  }
  return render_pods(pods, state.form == OutputForm::wide, colour_wanted(),
                     std::chrono::system_clock::now());
}

Result<std::string> text_of(const Pods& pods, const PodsState& state) {
  if (!is_structured(state.form)) return table_of(pods, state);
  std::vector<std::string> items;
  items.reserve(pods.size());
  for (const codec::PodSummary& pod : pods) items.push_back(pod.json);
  return list_text(items, state.form);
}

Exit follow(SchedulerClient& scheduler, const PodsState& state) {
  const auto changes = [&, before = Pods()](const std::string& body, bool first) mutable {
    return codec::read_pod_summaries(body).transform([&](Pods read) {
      const Pods now = shown_pods(std::move(read), state.filter);
      const Pods changed = changed_pods(std::exchange(before, now), now);
      return changed.empty() && !first ? std::string() : table_of(changed, state);
    });
  };
  return watch(scheduler, "/api/v1/pods", state.form != OutputForm::name, changes);
}

std::string annotations_text(const codec::PodView& pod) {
  std::string out =
      pod.ns + "/" + pod.name + " on " + (pod.node.empty() ? "no node yet" : pod.node) + "\n";
  for (const auto& [key, value] : pod.annotations) out += key + ": " + value + "\n";
  return out;
}

// The document of a standalone scheduler has the annotations; one in a cluster knows what its list
// says.
Exit one_pod(SchedulerClient& scheduler, const PodsState& state, const std::string& path) {
  const Named named{"pod", path, names_of_pods};
  const bool structured = is_structured(state.form);
  const auto body = scheduler.get("/standalone/pods/" + path);
  if (body && state.form != OutputForm::name) {
    const auto shown = structured ? item_text(*body, state.form)
                                  : codec::read_pod_view(*body).transform(annotations_text);
    return shown ? printed(*shown) : complain(shown.error(), Exit::unreadable);
  }
  if (!body && body.error().code != Errc::not_found)
    return complain(body.error(), exit_for(body.error()));
  auto pods = scheduler.pods();
  if (!pods) return view_failed(scheduler, pods.error(), named);
  std::erase_if(*pods,
                [&](const codec::PodSummary& pod) { return pod.ns + "/" + pod.name != path; });
  if (pods->empty()) return view_failed(scheduler, make_error(Errc::not_found, path), named);
  const auto shown = structured ? item_text(pods->front().json, state.form) : text_of(*pods, state);
  return shown ? printed(*shown) : complain(shown.error(), Exit::unreadable);
}

Exit run_pods(const PodsState& state) {
  if (const std::string why = watch_error(state.watch, state.form, state.pod); !why.empty())
    return complain(why, Exit::usage);
  std::string path;
  if (!state.pod.empty()) {
    path = pod_path(state.pod, state.way.default_namespace(state.filter.ns));
    if (path.empty()) return Exit::usage;
  }
  Result<Transport> transport = connect(state.way);
  if (!transport) return complain(transport.error(), exit_for(transport.error()));
  SchedulerClient scheduler(*std::move(transport));
  if (!state.pod.empty()) return one_pod(scheduler, state, path);
  if (state.watch) return follow(scheduler, state);
  auto pods = scheduler.pods();
  if (!pods) return complain(pods.error(), exit_for(pods.error()));
  const auto text = text_of(shown_pods(*std::move(pods), state.filter), state);
  return text ? printed(*text) : complain(text.error(), Exit::unreadable);
}

}  // namespace

void register_pods(CLI::App& app, Exit& exit_code) {
  auto state = std::make_shared<PodsState>();
  CLI::App* command =
      app.add_subcommand("pods", "pods with their chips and bandwidth, and why they wait");
  add_value(*command, "POD", "[[NAMESPACE/]NAME]", state->pod,
            "only this pod; of a standalone scheduler with its annotations");
  CLI::Option* ns = add_value(*command, "-n,--namespace", "NAME", state->filter.ns,
                              "only pods of this namespace");
  command->add_flag("-A,--all-namespaces")
      ->description("pods of all namespaces (the default)")
      ->excludes(ns);
  command->add_flag("--pending", state->filter.pending_only, "only pods without a node");
  add_watch_option(*command, state->watch);
  add_way_options(app, *command, state->way);
  add_list_output_option(*command, state->form);
  add_examples(*command,
               "  chipweave pods --scheduler http://127.0.0.1:8080\n"
               "  chipweave pods -n team --pending\n"
               "  chipweave pods -o name --pending | xargs -n 1 chipweave explain\n"
               "  chipweave pods -w");
  run_on_way(*command, state, exit_code, run_pods);
}

}  // namespace chipweave::cli
