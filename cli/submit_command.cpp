// chipweave submit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "cli/cluster/scheduler_way.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "cli/overlays.hpp"
#include "cli/submit.hpp"
#include "cli/whatif/dry_run.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/codec/text/json_mend.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

struct SubmitState {
  std::vector<std::string> files;
  SchedulerWay way;
  std::string default_namespace = "default";
  SubmitOptions options;
  std::vector<std::string> overlays;
  bool only_print = false;
  bool dry_run = false;
  OutputForm form = OutputForm::text;
};

void remark_on_selectors(const std::vector<codec::ManifestPod>& pods) {
  const auto count = std::count_if(pods.begin(), pods.end(),
                                   [](const codec::ManifestPod& pod) { return pod.selects_nodes; });
  if (count == 0) return;
  remark("nodeSelector and affinity of " + std::to_string(count) +
         (count == 1 ? " pod are" : " pods are") +
         " ignored, except kubernetes.io/hostname: a standalone scheduler has no node "
         "labels; use --node");
}

// Pods with extended resources none of which counts chips are placed like pods without chips.
void warn_of_unknown_resources(const std::vector<codec::ManifestPod>& pods) {
  const std::vector<std::string>& names = domain::whole_chip_resources();
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto is_known = [&](const auto& resource) {
    return std::find(known.begin(), known.end(), resource.first) != known.end();
  };
  std::map<std::string, std::size_t> unknown;
  for (const codec::ManifestPod& pod : pods) {
    if (std::any_of(pod.resources.begin(), pod.resources.end(), is_known)) continue;
    for (const auto& resource : pod.resources) ++unknown[resource.first];
  }
  for (const auto& [name, count] : unknown) {
    warn(unknown_name("accelerator resource", name, known) + "; requested by " +
         std::to_string(count) + (count == 1 ? " pod" : " pods"));
  }
}

// YAML's reader takes a mistake in JSON for something else.
Error manifest_error(const std::string& text, const Error& error) {
  if (!codec::begins_as_json(text)) return error;
  const auto json = codec::parse_json(text, {limits::kMaxManifestBytes, limits::kMaxJsonValues});
  return json ? error : json.error();
}

// The pods of all files; prints an error and returns nullopt if one cannot be used.
std::optional<std::vector<codec::ManifestPod>> read_pods(const SubmitState& state) {
  std::vector<codec::ManifestPod> pods;
  for (const std::string& file : state.files) {
    auto text = read_input(file, limits::kMaxManifestBytes);
    auto manifest = std::move(text).and_then([&](const std::string& yaml) {
      auto expanded = codec::expand_manifest(yaml, {state.default_namespace, !state.only_print});
      if (expanded) return expanded;
      return decltype(expanded)(manifest_error(yaml, expanded.error()).in(input_name(file)));
    });
    if (!manifest) {
      complain(manifest.error());
      return std::nullopt;
    }
    for (const std::string& note : manifest->notes) remark(note);
    std::move(manifest->pods.begin(), manifest->pods.end(), std::back_inserter(pods));
  }
  if (pods.size() > static_cast<std::size_t>(limits::kMaxManifestPods)) {
    complain("the files make more than " + std::to_string(limits::kMaxManifestPods) +
             " pods; submit them in parts");
    return std::nullopt;
  }
  if (pods.empty()) {
    const std::string where =
        state.files.size() > 1 ? "these files" : input_name(state.files.front());
    complain("there are no pods in " + where + ", so nothing was submitted");
    return std::nullopt;
  }
  return pods;
}

// In the form that `kubectl apply -f -` accepts.
std::string list_of(const std::vector<codec::ManifestPod>& pods) {
  JsonWriter list;
  list.begin_object().field("apiVersion", "v1").field("kind", "List").key("items").begin_array();
  for (const codec::ManifestPod& pod : pods) list.raw(pod.json);
  return list.end_array().end_object().take() + "\n";
}

// Host lists such as gpu[01-08] become their names.
Result<std::vector<std::string>> expanded_nodes(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& text : given) {
    auto names = codec::expand_hostlist(text);
    if (!names) return std::move(names).error().in("--node");
    std::move(names->begin(), names->end(), std::back_inserter(out));
  }
  return out;
}

Exit run_submit(const SubmitState& state) {
  if (!codec::is_namespace(state.default_namespace))
    return complain(
        "-n: expected a namespace (lower-case letters, digits and '-', at most 63), got " +
            in_quotes(state.default_namespace),
        Exit::usage);
  if (std::count(state.files.begin(), state.files.end(), "-") > 1)
    return complain("FILE: standard input (-) can be given only once", Exit::usage);
  const auto pods = read_pods(state);
  if (!pods) return Exit::unreadable;
  warn_of_unknown_resources(*pods);
  if (state.only_print) return printed(list_of(*pods));
  auto overlays = overlays_at(state.overlays);
  if (!overlays) return complain(overlays.error(), exit_for(overlays.error()));
  SubmitOptions options = state.options;
  if (auto nodes = expanded_nodes(state.options.only_nodes); nodes) {
    options.only_nodes = *std::move(nodes);
  } else {
    return complain(nodes.error(), Exit::usage);
  }
  options.overlays = *std::move(overlays);
  remark_on_selectors(*pods);
  if (state.dry_run)
    remark(
        "dry run: nothing is created or reserved. Not considered: taints, CPU, memory and the "
        "network, for which the scheduler may choose other nodes");
  Result<Transport> transport = connect(state.way);
  if (!transport) return complain(transport.error(), exit_for(transport.error()));
  SchedulerClient scheduler(*std::move(transport));
  const auto outcome =
      state.dry_run ? dry_run(scheduler, *pods, options) : submit(scheduler, *pods, options);
  if (!outcome) return complain(outcome.error(), exit_for_object(outcome.error()));
  const bool written = print(state.form == OutputForm::json
                                 ? submit_json(*outcome)
                                 : submit_text(*outcome, state.options.compare, colour_wanted()));
  if (!written) return Exit::unreadable;
  const bool all_placed = std::all_of(outcome->begin(), outcome->end(),
                                      [](const SubmittedPod& pod) { return pod.placed(); });
  return all_placed ? Exit::fine : Exit::findings;
}

}  // namespace

void register_submit(CLI::App& app, Exit& exit_code) {
  auto state = std::make_shared<SubmitState>();
  CLI::App* command = app.add_subcommand(
      "submit", "create the pods of Kubernetes YAML on a standalone scheduler and place them");
  add_value(*command, "FILE", "FILE.yaml...", state->files,
            "Kubernetes YAML; '-' reads standard input")
      ->required();
  add_way_options(app, *command, state->way);
  add_value(*command, "-n,--namespace", "NAME", state->default_namespace,
            "where a manifest names none");
  add_value(*command, "--node", "NAME", state->options.only_nodes,
            "only this node, or those of a host list (gpu[01-08]); may be repeated");
  CLI::Option* compare =
      command->add_flag("--compare", state->options.compare,
                        "also show what a pair-sum and a first-fit choice would have got");
  add_overlay_option(*command, state->overlays)->needs(compare);
  command->add_flag("--print", state->only_print,
                    "only print the pods, as a List for kubectl, without a scheduler");
  command
      ->add_flag("--dry-run", state->dry_run,
                 "only show where the pods would be placed now; also with a scheduler in a cluster")
      ->excludes(compare)
      ->excludes("--print");
  add_output_option(*command, state->form);
  add_examples(*command,
               "  chipweave submit examples/ack-pytorchjob.yaml --scheduler http://127.0.0.1:8080\n"
               "  CHIPWEAVE_SCHEDULER=http://127.0.0.1:8080 chipweave submit job.yaml --compare\n"
               "  chipweave submit job.yaml --print | kubectl apply -f -\n"
               "  chipweave submit job.yaml --dry-run --context production\n"
               "Exit: 0 all pods have a place, 1 some are pending, 3 a file or the scheduler "
               "cannot be read, 4 --node names an unknown node.");
  command->callback([state, &exit_code] {
    exit_code = state->only_print ? Exit::fine : choose_way(state->way);
    if (exit_code == Exit::fine) exit_code = run_submit(*state);
  });
}

}  // namespace chipweave::cli
