#include "cli/ranktable/tools/pd_arguments.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chipweave::cli {
namespace {

constexpr std::array<std::pair<PdMode, const char*>, 4> kModes = {{
    {PdMode::gen, "gen"},
    {PdMode::merge, "merge"},
    {PdMode::merge_local, "merge-local"},
    {PdMode::merge_all, "merge-all"},
}};

// Which options a mode looks at, besides --mode and --save-dir.
std::vector<std::string> options_of(PdMode mode) {
  switch (mode) {
    case PdMode::gen:
      return {"--api-server",
              "--prefill-server-list",
              "--decode-server-list",
              "--ip",
              "--device-port-range",
              "--replace-device-list",
              "--strict",
              "--dry-run",
              "--hccn-tool",
              "--hccn-conf",
              "--from-inventory",
              "--from-topology",
              "--address-plan"};
    case PdMode::merge:
      return {"--global-ranktable-list", "--strict", "--dry-run"};
    case PdMode::merge_local:
      return {"--local-ranktable-list", "--dry-run"};
    case PdMode::merge_all:
      return {"--prefill-server-list", "--decode-server-list", "--api-server-list", "--dry-run"};
  }
  return {};
}

std::string examples(const std::string& program, std::optional<PdMode> only) {
  const auto line = [&](PdMode mode, const std::string& rest) {
    if (only && *only != mode) return std::string();
    const std::string flag = only ? "" : std::string(" --mode ") + to_string(mode);
    return "  " + program + flag + rest + "\n";
  };
  return line(PdMode::gen,
              " --prefill-server-list 4,5 --decode-server-list 6,7 --api-server --ip 10.0.0.18 "
              "--save-dir /tmp/ranktable") +
         line(PdMode::merge,
              " --global-ranktable-list a/global_ranktable_10.0.0.18.json "
              "b/global_ranktable_10.0.0.19.json --save-dir /tmp/ranktable") +
         line(PdMode::merge_local,
              " --local-ranktable-list a/local_ranktable_10.0.0.18_01.json "
              "b/local_ranktable_10.0.0.19_01.json") +
         line(PdMode::merge_all,
              " --prefill-server-list p/local_ranktable_merge.json --decode-server-list "
              "d/local_ranktable_merge.json");
}

std::string about(std::optional<PdMode> only) {
  if (!only) {
    return "Writes and merges the rank tables of disaggregated prefill and decode (ModelArts).";
  }
  switch (*only) {
    case PdMode::gen:
      return "Writes the global and local rank tables of this machine's prefill and decode "
             "instances.";
    case PdMode::merge:
      return "Makes global_ranktable_merge.json of the global tables of several machines.";
    case PdMode::merge_local:
      return "Makes local_ranktable_merge.json of the local tables of one instance that spans "
             "machines.\nserver_count is a JSON number in it, as in the reference.";
    case PdMode::merge_all:
      return "Makes a global table with a group an instance of local tables.\nserver_count is a "
             "JSON number in it, as in the reference.";
  }
  return "";
}

std::vector<ArgOption> all_options(PdMode mode, bool any_mode) {
  const bool gen = any_mode || mode == PdMode::gen;
  const std::string item = any_mode ? "ITEM" : gen ? "IDS" : "FILE";
  std::string what =
      gen ? "an item an instance, its device ids, such as 4,5" : "an item an instance";
  if (any_mode || !gen) what += any_mode ? "; merge-all: its local table" : ", its local table";
  std::vector<ArgOption> out = {
      {"--save-dir",
       Takes::one,
       "DIR",
       "where files are written; made if it is not there (./)",
       {},
       false},
      {"--api-server",
       Takes::nothing,
       "",
       "this machine hosts the entry of the service; one machine of a deployment may",
       {},
       false},
      {"--prefill-server-list", Takes::any_number, item, "prefill: " + what, {}, false},
      {"--decode-server-list", Takes::any_number, item, "decode: " + what, {}, false},
      {"--ip",
       Takes::one,
       "ADDRESS",
       "of this machine (what its host name resolves to)",
       {},
       false},
      {"--global-ranktable-list",
       Takes::any_number,
       "FILE",
       "two and more global tables",
       {},
       false},
      {"--local-ranktable-list", Takes::any_number, "FILE", "two and more local tables", {}, false},
      {"--api-server-list",
       Takes::any_number,
       "FILE",
       "taken for the sake of scripts; the reference writes no group for it",
       {},
       false},
      {"--device-port-range",
       Takes::two,
       "PORT",
       "ports of borrowed NICs: two numbers (16667 65535)",
       {},
       false},
      {"--replace-device-list",
       Takes::one,
       "ADDRESSES",
       "NICs to avoid: their devices use that of the sibling die, with a port",
       {},
       false},
      {"--strict",
       Takes::nothing,
       "",
       "what is a warning about sizes and groups is an error",
       {},
       true},
      {"--dry-run", Takes::nothing, "", "say what would be written, write nothing", {}, true},
  };
  for (ArgOption& option : address_options()) out.push_back(std::move(option));
  return out;
}

}  // namespace

const char* to_string(PdMode mode) {
  for (const auto& [known, name] : kModes) {
    if (known == mode) return name;
  }
  return "";
}

std::optional<PdMode> pd_mode(std::string_view name) {
  for (const auto& [mode, known] : kModes) {
    if (name == known) return mode;
  }
  return std::nullopt;
}

ArgSpec pd_spec(const std::string& program, std::optional<PdMode> only) {
  ArgSpec out;
  out.program = program;
  out.about = about(only);
  out.examples = examples(program, only);
  ArgOption mode{"--mode", Takes::one, "", "what to do (gen)", {}, false};
  for (const auto& [known, name] : kModes) mode.choices.emplace_back(name);
  if (only) {
    mode.choices = {to_string(*only)};
    mode.help = "may be left out";
  }
  out.options.push_back(std::move(mode));
  const std::vector<std::string> seen = only ? options_of(*only) : std::vector<std::string>{};
  for (ArgOption& option : all_options(only.value_or(PdMode::gen), !only)) {
    const bool shown = !only || option.name == "--save-dir" ||
                       std::find(seen.begin(), seen.end(), option.name) != seen.end();
    if (shown) out.options.push_back(std::move(option));
  }
  return out;
}

Result<PdRequest> pd_request(const ArgWords& words, std::optional<PdMode> only) {
  PdRequest out;
  out.mode = only.value_or(pd_mode(words.one("--mode", "gen")).value_or(PdMode::gen));
  out.save_dir = words.one("--save-dir", out.save_dir);
  out.api_server = words.has("--api-server");
  out.prefill = words.list("--prefill-server-list");
  out.decode = words.list("--decode-server-list");
  out.ip = words.one("--ip", "");
  out.files =
      words.list(out.mode == PdMode::merge ? "--global-ranktable-list" : "--local-ranktable-list");
  out.api_server_files = words.list("--api-server-list");
  out.port_range = words.list("--device-port-range");
  out.replaced_devices = words.one("--replace-device-list", "");
  out.strict = words.has("--strict");
  out.dry_run = words.has("--dry-run");
  Result<AddressFlags> addresses = address_flags(words);
  if (!addresses) return std::move(addresses).error();
  out.addresses = *std::move(addresses);
  return out;
}

std::vector<std::string> options_without_effect(const ArgWords& words, PdMode mode) {
  const std::vector<std::string> seen = options_of(mode);
  std::vector<std::string> out;
  for (const auto& [name, unused] : words.given) {
    if (name == "--mode" || name == "--save-dir") continue;
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) out.push_back(name);
  }
  return out;
}

}  // namespace chipweave::cli
