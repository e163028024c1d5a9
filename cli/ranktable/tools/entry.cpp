#include "cli/ranktable/tools/entry.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/tools/requests.hpp"
#include "common/base/text.hpp"
#include "common/flags/usage_error.hpp"

namespace chipweave::cli {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kMisused = 2;

// A group in the help. These options cannot be abbreviated, so that they never make an abbreviation
// in scripts ambiguous.
constexpr const char* kOwnOptions = "Options that the reference does not have";

using Run = std::function<Result<void>(const ToolLog&)>;

struct Tool {
  const char* name;  // below `chipweave ranktable`
  const char* about;
  const char* example;  // options
  // Adds the options to the app and returns the function that runs the mode.
  Run (*add)(CLI::App& app);
};

// Text: std::string or an optional one.
template <class Text>
CLI::Option* add_one(CLI::App& app, const char* name, Text& to, const char* value,
                     const char* help) {
  // A function, because CLI11 takes an empty text for an absent optional.
  return app
      .add_option_function<std::string>(
          name, [&to](const std::string& text) { to = text; }, help)
      ->option_text(value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check([](const std::string& text) {
        return text.starts_with("--") ? "expected a value, got option " + text : std::string();
      });
}

// All words up to the next option; the last of several such options counts.
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& to,
                      const char* value, const char* help) {
  static constexpr const char* kNoWords = "{}";
  const auto set = [&to](const std::vector<std::string>& words) {
    to = words;
    std::erase(to, kNoWords);
  };
  return app.add_option_function<std::vector<std::string>>(name, set, help)
      ->option_text(value)
      ->expected(0, -1)
      ->allow_extra_args()
      ->default_str(kNoWords)
      ->trigger_on_parse();
}

void add_address_options(CLI::App& app, AddressFlags& to) {
  const auto add = [&app](const char* name, std::string& value, const char* text,
                          const char* help) {
    return add_one(app, name, value, text, help)
        ->check([](const std::string& given) {
          return given.empty() ? std::string("expected a value, got an empty one") : std::string();
        })
        ->group(kOwnOptions);
  };
  auto* tool = add("--hccn-tool", to.hccn_tool, "PATH",
                   "program to ask for addresses (the driver's, else the one on PATH)");
  auto* conf = add("--hccn-conf", to.hccn_conf, "FILE",
                   "used if the program is missing or has no answer (/etc/hccn.conf)");
  auto* inventory = add("--from-inventory", to.from_inventory, "FILE",
                        "take the addresses from the NodeInventory of another machine, as JSON");
  auto* topology = add("--from-topology", to.from_topology, "NAME",
                       "plan ahead for a built-in profile or a topology file");
  add("--address-plan", to.address_plan, "BASE/PREFIX",
      "device N has address BASE + N, if the description of the machine has none");
  // Not excludes(): which of several options it names depends on their addresses.
  const std::vector<std::pair<CLI::Option*, CLI::Option*>> exclusive = {{tool, inventory},
                                                                        {tool, topology},
                                                                        {conf, inventory},
                                                                        {conf, topology},
                                                                        {inventory, topology}};
  app.callback([&to, exclusive] {
    for (const auto& [one, other] : exclusive) {
      if (one->count() > 0 && other->count() > 0)
        throw CLI::ExcludesError(one->get_name(), other->get_name());
    }
    if (!to.address_plan.empty() && to.from_inventory.empty() && to.from_topology.empty()) {
      throw CLI::RequiresError("--address-plan", "--from-topology or --from-inventory");
    }
  });
}

constexpr std::array<std::pair<PdMode, const char*>, 4> kModes = {{
    {PdMode::gen, "gen"},
    {PdMode::merge, "merge"},
    {PdMode::merge_local, "merge-local"},
    {PdMode::merge_all, "merge-all"},
}};

void add_gen_options(CLI::App& app, PdRequest& to) {
  app.add_flag("--api-server", to.api_server,
               "this machine hosts the entry of the service; only one of a deployment may")
      ->disable_flag_override();
  add_one(app, "--ip", to.ip, "ADDRESS", "address of this machine (its host name is resolved)");
  app.add_option("--device-port-range", to.port_range,
                 "ports for borrowed NICs, first and last (16667 65535)")
      ->option_text("PORT PORT")
      ->expected(2)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->trigger_on_parse();
  add_one(app, "--replace-device-list", to.replaced_devices, "ADDRESSES",
          "NICs to avoid: their devices use the NIC of the sibling die, with a port");
  add_address_options(app, to.addresses);
}

void add_instance_options(CLI::App& app, PdRequest& to, const char* value, const char* help) {
  add_list(app, "--prefill-server-list", to.prefill, value, help);
  add_list(app, "--decode-server-list", to.decode, value, help);
}

// The parser's results until the command runs.
struct PdArguments {
  PdRequest request;
  std::string mode;  // as given
};

// One mode as its own command, where --mode is optional and must match; or all modes, as in
// pd_ranktable_tools.py, which takes all options in every mode.
Run add_pd(CLI::App& app, std::optional<PdMode> only) {
  const auto arguments = std::make_shared<PdArguments>();
  PdRequest& to = arguments->request;
  const auto has = [&](PdMode mode) { return !only || *only == mode; };
  std::vector<std::string> modes;
  for (const auto& [mode, name] : kModes) {
    if (has(mode)) modes.emplace_back(name);
  }
  arguments->mode = modes.front();
  add_one(app, "--mode", arguments->mode, joined(modes, "|").c_str(),
          only ? "may be left out" : "what to do (gen)")
      ->check(CLI::IsMember(modes));
  add_one(app, "--save-dir", to.save_dir, "DIR", "folder for the files; created if missing (./)");
  app.add_flag("--dry-run", to.dry_run, "log what would be written, write nothing")
      ->group(kOwnOptions);
  if (!only) {
    add_instance_options(
        app, to, "ITEM…",
        "an item for each instance: its device ids, 4,5; merge-all: its local table");
  } else if (*only == PdMode::gen) {
    add_instance_options(app, to, "IDS…", "an item for each instance: its device ids, 4,5");
  } else if (*only == PdMode::merge_all) {
    add_instance_options(app, to, "FILE…", "the local table of each instance");
  }
  if (has(PdMode::gen)) add_gen_options(app, to);
  if (has(PdMode::gen) || has(PdMode::merge)) {
    app.add_flag("--strict", to.strict, "treat warnings about sizes and groups as errors")
        ->group(kOwnOptions);
  }
  if (has(PdMode::merge)) {
    add_list(app, "--global-ranktable-list", to.global_tables, "FILE…",
             "two or more global tables");
  }
  if (has(PdMode::merge_local)) {
    add_list(app, "--local-ranktable-list", to.local_tables, "FILE…", "two or more local tables");
  }
  if (has(PdMode::merge_all)) {
    add_list(app, "--api-server-list", to.api_server_list, "FILE…",
             "accepted and not used, as in the reference");
  }
  return [arguments](const ToolLog& log) {
    for (const auto& [mode, name] : kModes) {
      if (arguments->mode == name) arguments->request.mode = mode;
    }
    return run_pd(arguments->request, log);
  };
}
template <PdMode mode>
Run add_pd_mode(CLI::App& app) {
  return add_pd(app, mode);
}

Run add_hccl(CLI::App& app) {
  const auto request = std::make_shared<HcclRequest>();
  add_one(app, "--device_num", request->device_num, "[FIRST,LAST)", "which devices ([0,8))");
  add_one(app, "--visible_devices", request->visible_devices, "IDS",
          "physical ids of devices 0, 1, … as the job numbers them (0,1,2,…)");
  add_one(app, "--server_ip", request->server_ip, "ADDRESS",
          "address of this server (its host name is resolved)");
  add_one(app, "--device_num_per_node", request->devices_per_node, "N",
          "devices of this server (8)")
      ->group(kOwnOptions);
  add_address_options(app, request->addresses);
  return [request](const ToolLog& log) { return run_hccl(*request, log); };
}

Run add_merge_hccl(CLI::App& app) {
  const auto files = std::make_shared<std::vector<std::string>>();
  app.add_option("FILE", *files, "HCCL rank tables of one server each; ranks in this order")
      ->option_text("…")
      ->required();
  return [files](const ToolLog& log) { return run_merge_hccl(*files, log); };
}

constexpr std::array<Tool, 6> kTools = {{
    {"gen", "write the rank tables of this machine's prefill and decode instances",
     "--prefill-server-list 4,5 --decode-server-list 6,7 --api-server --ip 10.0.0.18",
     add_pd_mode<PdMode::gen>},
    {"merge", "make one global table from those of several machines",
     "--global-ranktable-list a/global_ranktable_10.0.0.18.json b/global_ranktable_10.0.0.19.json",
     add_pd_mode<PdMode::merge>},
    {"merge-local", "make one local table of an instance that spans machines",
     "--local-ranktable-list a/local_ranktable_10.0.0.18_01.json "
     "b/local_ranktable_10.0.0.19_01.json",
     add_pd_mode<PdMode::merge_local>},
    {"merge-all", "make a global table with one group for each of several local tables",
     "--prefill-server-list p/local_ranktable_merge.json --decode-server-list "
     "d/local_ranktable_merge.json",
     add_pd_mode<PdMode::merge_all>},
    {"gen-hccl", "write the HCCL rank table of this server, as hccl_tools.py does",
     "--device_num \"[0,8)\" --server_ip 10.0.0.18", add_hccl},
    {"merge-hccl", "make one HCCL rank table from several, as merge_hccl.py does",
     "hccl_8p_01234567_10.0.0.18.json hccl_8p_01234567_10.0.0.19.json", add_merge_hccl},
}};

constexpr Tool kPdTool = {"pd_ranktable_tools",
                          "write and merge the rank tables of disaggregated prefill and decode",
                          "--mode gen --prefill-server-list 4,5 --api-server --ip 10.0.0.18",
                          [](CLI::App& app) { return add_pd(app, std::nullopt); }};

struct Call {
  const Tool* tool = nullptr;
  std::string program;    // for the help
  std::size_t first = 1;  // its first word
};

const Tool* tool_named(std::string_view name) {
  const auto* const found = std::find_if(kTools.begin(), kTools.end(),
                                         [&](const Tool& tool) { return tool.name == name; });
  return found == kTools.end() ? nullptr : &*found;
}

Call call_of(const std::vector<std::string>& words) {
  std::string_view name = words.empty() ? std::string_view() : words[0];
  name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
  if (name.ends_with(".py")) name.remove_suffix(3);
  if (name == kPdTool.name) return {&kPdTool, kPdTool.name, 1};
  if (name == "hccl_tools") return {tool_named("gen-hccl"), "hccl_tools", 1};
  if (words.size() < 3 || words[1] != "ranktable") return {};
  return {tool_named(words[2]), "chipweave ranktable " + words[2], 3};
}

// Like Python's argparse, accepts an unambiguous prefix of an option name.
std::string full_name(const CLI::App& app, const std::string& name) {
  if (app.get_option_no_throw(name) != nullptr) return name;
  std::vector<std::string> fits;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kOwnOptions) continue;
    for (const std::string& known : option->get_lnames()) {
      if (("--" + known).starts_with(name)) fits.push_back("--" + known);
    }
  }
  return fits.size() == 1 ? fits.front() : name;
}

// The words in CLI11's form: full names, last word first. A value attached with '=' becomes a
// separate word, because CLI11 would use the next word for an empty value.
std::vector<std::string> parser_words(const CLI::App& app, const std::vector<std::string>& words,
                                      std::size_t first) {
  std::vector<std::string> out;
  bool options = true;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string& word = words[i];
    options = options && word != "--";
    if (!options || !word.starts_with("--")) {
      out.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = full_name(app, word.substr(0, equals));
    const CLI::Option* option = app.get_option_no_throw(name);
    const bool attached = equals != std::string::npos;
    if (attached && option != nullptr && option->get_items_expected_max() > 0) {
      out.push_back(name);
      out.push_back(word.substr(equals + 1));
    } else {
      out.push_back(attached ? name + word.substr(equals) : name);
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

std::optional<int> run_ranktable_tool(const std::vector<std::string>& words, const Sink& out,
                                      const Sink& err) {
  const Call call = call_of(words);
  if (call.tool == nullptr) return std::nullopt;
  const ToolLog log(call.program, out, err);
  CLI::App app(call.tool->about, call.program);
  app.footer(concat("Examples:\n  ", call.program, " ", call.tool->example));
  const Run run = call.tool->add(app);
  try {
    app.parse(parser_words(app, words, call.first));
  } catch (const CLI::CallForHelp&) {
    log.print(app.help());
    return kDone;
  } catch (const CLI::ParseError& error) {
    log.fail(chipweave::flags::usage_error(app, error));
    return kMisused;
  }
  const Result<void> done = run(log);
  if (done) return kDone;
  log.fail(done.error().text());
  return kFailed;
}

std::optional<int> run_ranktable_tools(int argc, char** argv) {
  const auto sink = [](std::FILE* file) {
    return [file](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fflush(file);
    };
  };
  return run_ranktable_tool(std::vector<std::string>(argv, argv + argc), sink(stdout),
                            sink(stderr));
}

void register_ranktable_tools(CLI::App& ranktable) {
  // For the help and the completion; run_ranktable_tools() has parsed a call before.
  for (const Tool& tool : kTools) {
    CLI::App* command = ranktable.add_subcommand(tool.name, tool.about);
    command->footer(concat("Examples:\n  chipweave ranktable ", tool.name, " ", tool.example));
    command->final_callback([run = tool.add(*command)] {});  // keeps what the options refer to
  }
}

}  // namespace chipweave::cli
