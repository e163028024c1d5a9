#include "cli/ranktable/tools/entry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

#include "cli/ranktable/tools/hccl_command.hpp"
#include "cli/ranktable/tools/pd_command.hpp"

namespace chipweave::cli {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kMisused = 2;

enum class Tool { pd, gen_hccl, merge_hccl };

// One way to call a generator: which, as what, and where its words begin.
struct Call {
  Tool tool = Tool::pd;
  std::optional<PdMode> mode;  // the command's own
  std::string program;
  std::size_t first = 1;
};

std::string base_name(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  if (path.ends_with(".py")) path.remove_suffix(3);
  return std::string(path);
}

std::optional<Call> call_of(const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "" : base_name(words[0]);
  if (name == "pd_ranktable_tools") return Call{Tool::pd, std::nullopt, name, 1};
  if (name == "hccl_tools") return Call{Tool::gen_hccl, std::nullopt, name, 1};
  if (name == "merge_hccl") return Call{Tool::merge_hccl, std::nullopt, name, 1};
  if (words.size() >= 2 && words[1] == "pd-ranktable") {
    return Call{Tool::pd, std::nullopt, "chipweave pd-ranktable", 2};
  }
  if (words.size() < 3 || words[1] != "ranktable") return std::nullopt;
  const std::string program = "chipweave ranktable " + words[2];
  if (const auto mode = pd_mode(words[2])) return Call{Tool::pd, mode, program, 3};
  if (words[2] == "gen-hccl") return Call{Tool::gen_hccl, std::nullopt, program, 3};
  if (words[2] == "merge-hccl") return Call{Tool::merge_hccl, std::nullopt, program, 3};
  return std::nullopt;
}

ArgSpec spec_of(const Call& call) {
  switch (call.tool) {
    case Tool::pd:
      return pd_spec(call.program, call.mode);
    case Tool::gen_hccl:
      return hccl_spec(call.program);
    case Tool::merge_hccl:
      return merge_hccl_spec(call.program);
  }
  return {};
}

int finish(const Result<void>& done, const ToolLog& log) {
  if (done) return kDone;
  log.fail(done.error());
  return kFailed;
}

int run_pd_words(const Call& call, const ArgSpec& spec, const ArgWords& words, const ToolLog& log) {
  const Result<PdRequest> request = pd_request(words, call.mode);
  if (!request) {
    log.misuse(usage_text(spec), request.error());
    return kMisused;
  }
  for (const std::string& option : options_without_effect(words, request->mode)) {
    log.warn(option + " has no effect in mode " + to_string(request->mode));
  }
  return finish(run_pd(*request, log), log);
}

int run_hccl_words(const ArgSpec& spec, const ArgWords& words, const ToolLog& log) {
  const Result<AddressFlags> flags = address_flags(words);
  if (!flags) {
    log.misuse(usage_text(spec), flags.error());
    return kMisused;
  }
  const Result<HcclRequest> request = hccl_request(words);
  if (!request) return finish(request.error(), log);
  return finish(run_hccl(*request, log), log);
}

int run_call(const Call& call, const std::vector<std::string>& words, const ToolLog& log) {
  const ArgSpec spec = spec_of(call);
  const Result<ArgWords> parsed = parse_words(spec, words);
  if (!parsed) {
    log.misuse(usage_text(spec), parsed.error());
    return kMisused;
  }
  if (parsed->help) {
    log.print(help_text(spec));
    return kDone;
  }
  switch (call.tool) {
    case Tool::pd:
      return run_pd_words(call, spec, *parsed, log);
    case Tool::gen_hccl:
      return run_hccl_words(spec, *parsed, log);
    case Tool::merge_hccl:
      return finish(run_merge_hccl(parsed->files, log), log);
  }
  return kFailed;
}

}  // namespace

std::vector<RanktableTool> ranktable_tools() {
  return {
      {"ranktable gen", "write the rank tables of this machine's prefill and decode instances"},
      {"ranktable merge", "make one global table of those of several machines"},
      {"ranktable merge-local", "make one local table of an instance that spans machines"},
      {"ranktable merge-all", "make a global table with a group an instance of local tables"},
      {"ranktable gen-hccl", "write the HCCL rank table of this server, as hccl_tools.py does"},
      {"ranktable merge-hccl", "make one HCCL rank table of several, as merge_hccl.py does"},
      {"pd-ranktable", "take the words of pd_ranktable_tools.py"},
  };
}

std::optional<int> run_ranktable_tool(const std::vector<std::string>& words, const Sink& out,
                                      const Sink& err) {
  const std::optional<Call> call = call_of(words);
  if (!call) return std::nullopt;
  const ToolLog log(call->program, out, err);
  const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(call->first),
                                      words.end());
  return run_call(*call, rest, log);
}

std::optional<int> run_ranktable_tools(int argc, char** argv) {
  bool written = true;
  const auto sink = [&written](std::FILE* file) {
    return [&written, file](std::string_view text) {
      const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
      if (!whole || std::fflush(file) != 0) written = written && file == stderr;
    };
  };
  const std::optional<int> exit =
      run_ranktable_tool(std::vector<std::string>(argv, argv + argc), sink(stdout), sink(stderr));
  // What was asked for is the files; help that could not be printed is a failure.
  if (exit && !written) return std::max(*exit, kFailed);
  return exit;
}

}  // namespace chipweave::cli
