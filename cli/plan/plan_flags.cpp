#include "cli/plan/plan_flags.hpp"

#include <array>
#include <set>
#include <utility>

#include "cli/input_file.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

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

}  // namespace

Result<std::vector<GangMember>> gang_members(const PlanFlags& flags) {
  std::vector<GangMember> out;
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
  if (flags.parallel.any())
    out.push_back(
        {"the parallel sizes", "communicators", flags.parallel.json(flags.parallel.ranks_per_pod)});
  return out;
}

std::string plan_line_of(const PlanFlags& flags, const std::string& network,
                         const std::vector<GangMember>& members, const codec::GangFile& file,
                         const std::string& gangs) {
  JsonWriter line;
  line.begin_object().key("network").raw(network);
  if (flags.explain || !flags.if_fails.empty()) line.key("explain").boolean(true);
  if (!flags.if_fails.empty()) line.key("if_fails").strings(flags.if_fails);
  if (!gangs.empty()) {
    line.key("gangs").raw(gangs);
    return line.end_object().take();
  }
  line.key("gang").begin_object();
  for (const GangMember& member : members) line.key(member.key).raw(member.json);
  if (!file.members.empty()) line.raw(file.members);
  return line.end_object().end_object().take();
}

std::string plan_usage_error(const PlanFlags& flags) {
  const bool network = !flags.network.empty() || flags.live.any();
  const bool gang = !flags.gang.empty() || !flags.gangs.empty() || (flags.pods && flags.chips);
  if (!network || !gang)
    return "one of --batch FILE, or a network (--network FILE, --scheduler URL, --kubeconfig FILE) "
           "with --pods and --chips, --gang FILE or --gangs FILE, is required; see 'chipweave plan "
           "--help'";
  if (std::string wrong = live_usage_error(flags.live); !wrong.empty()) return wrong;
  if (!flags.to.empty() && flags.form == OutputForm::json)
    return "--to " + flags.to + " cannot be combined with -o json";
  if (!flags.to.empty() && !flags.gangs.empty())
    return "--to " + flags.to + " cannot be combined with --gangs";
  if (!flags.if_fails.empty() && !flags.gangs.empty())
    return "--if-fails cannot be combined with --gangs";
  return standard_input_error(
      {{"--network", flags.network}, {"--gang", flags.gang}, {"--gangs", flags.gangs}});
}

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
  add_live_options(command, flags.live, batch);
  option("--pods", flags.pods, "pods to place", "PODS");
  option("--chips", flags.chips, "chips of each pod", "CHIPS");
  option("--gang", flags.gang, "the gang as JSON, for roles, subgroups and the rest; -: stdin",
         "FILE");
  option("--gangs", flags.gangs,
         "several gangs as a JSON list, planned by priority, then in order; -: stdin", "FILE");
  option("--min", flags.min, "how many must run, or none is placed; default: all", "PODS");
  option("--required", flags.required, "all pods inside one domain of this level", "LEVEL");
  option("--preferred", flags.preferred, "the same if that is possible", "LEVEL");
  repeated("--slice", flags.slices, "used domains of the level hold a multiple of so many pods",
           "LEVEL=PODS");
  offer(option("--policy", flags.policy, "compact (default): fewest domains; even: equal shares",
               "POLICY"),
        std::array<std::string_view, 2>{"compact", "even"});
  offer(option("--objective", flags.objective,
               "what nodes and chips are chosen for: bandwidth (default), latency, all_to_all",
               "OBJECTIVE"),
        std::array<std::string_view, 3>{"bandwidth", "latency", "all_to_all"});
  option("--keep-spare", flags.keep_spare,
         "leave so many whole free nodes in each used domain if that is possible", "LEVEL=NODES");
  add_parallel_flags(command, flags.parallel, batch,
                     "ranks of each pod; default: one for each of its chips");
  command
      .add_flag("--explain", flags.explain,
                "say what bound the plan, the runner-up, and what each constraint costs")
      ->excludes(batch);
  repeated("--if-fails", flags.if_fails,
           "explain what happens if this node of the plan fails; default: each", "NODE");
  option("--to", flags.to,
         "print the plan for a launcher instead: hostfile, rankfile, torchrun, mpi", "FORM")
      ->check(CLI::IsMember({"hostfile", "rankfile", "torchrun", "mpi"}));
  add_cpu_packages_option(command, flags.cpu_packages)->excludes(batch);
  repeated("--existing", flags.existing, "pods of the gang that run on a node, by its path or name",
           "NODE=PODS");
  repeated("--failed", flags.failed,
           "repair: a node whose existing pods must move, by its path or name", "NODE");
}

}  // namespace chipweave::cli
