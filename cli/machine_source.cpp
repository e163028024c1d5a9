#include "cli/machine_source.hpp"

#include <charconv>
#include <filesystem>
#include <utility>

#include "cli/options.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/domain/link_rates.hpp"
#include "common/io/files.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::cli {
namespace {

// npu-smi texts are the one format that can hold several machines.
Result<codec::ImportedTopology> load_one_of_several(const MachineSource& machine,
                                                    const std::string& content) {
  const codec::ImportOptions import{machine.model};
  Result<std::vector<codec::ImportedTopology>> all = codec::import_npu_smi_all(content, import);
  if (!all) return std::move(all).error().in("file " + machine.source);
  std::size_t index = 0;
  const char* end = machine.index.data() + machine.index.size();
  const bool too_large =
      !machine.index.empty() && std::from_chars(machine.index.data(), end, index).ec != std::errc{};
  if (too_large || index >= all->size()) {
    return make_error(Errc::invalid_argument, "must be less than " + std::to_string(all->size()) +
                                                  ", the number of matrices in " + machine.source)
        .in("--index");
  }
  codec::ImportedTopology chosen = std::move((*all)[index]);
  if (machine.index.empty() && all->size() > 1) {
    chosen.warnings.push_back("the file has " + std::to_string(all->size()) +
                              " matrices, this is the first; choose with --index N");
  }
  return chosen;
}

// What the machine is without --model; empty: it does not say, or can be read only once (a pipe).
std::string own_model(const MachineSource& machine) {
  std::error_code ignored;
  const bool readable_again = profiles::find(machine.source) != nullptr ||
                              std::filesystem::is_regular_file(machine.source, ignored) ||
                              std::filesystem::is_directory(machine.source, ignored);
  if (!readable_again) return "";
  const auto own = io::load_machine(machine.source, {});
  return own ? own->topology.model() : "";
}

std::string model_error(const std::string& model) {
  if (domain::is_known_model(model)) return "";
  return unknown_name("model", model, domain::known_models());
}

}  // namespace

std::vector<CLI::Option*> add_machine_options(CLI::App& command, MachineSource& machine) {
  CLI::Option* model = add_value(command, "--model", "NAME", machine.model,
                                 "what the chips are, where the file does not say: H100")
                           ->check(model_error);
  CLI::Option* index =
      add_value(command, "--index", "N", machine.index,
                "which matrix of a file that has several, from 0")
          ->check([](const std::string& text) {
            const bool digits =
                !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            return digits ? "" : "expected a whole number from 0, got " + in_quotes(text);
          });
  offer(model, domain::known_models());
  return {model, index};
}

Result<codec::ImportedTopology> load_machine_source(const MachineSource& machine) {
  const auto load = [&]() -> Result<codec::ImportedTopology> {
    std::error_code ignored;  // a pipe can be read only once, so load_machine reads it
    if (profiles::find(machine.source) == nullptr &&
        std::filesystem::is_regular_file(machine.source, ignored)) {
      const auto content = io::read_file(machine.source, limits::kMaxTopologyFileBytes);
      if (content && codec::looks_like_npu_smi(*content)) {
        return load_one_of_several(machine, *content);
      }
    }
    if (machine.index.find_first_not_of('0') != std::string::npos) {
      return make_error(Errc::invalid_argument, "must be 0: " + machine.source + " has one machine")
          .in("--index");
    }
    return io::load_machine(machine.source, {machine.model});
  };
  Result<codec::ImportedTopology> out = load();
  if (!out || machine.model.empty()) return out;
  const std::string own = own_model(machine);
  if (!own.empty() && upper_case(own) != upper_case(machine.model)) {
    out->warnings.push_back("--model " + machine.model + " replaces the model of " +
                            machine.source + ", " + in_quotes(own) +
                            "; rates that it does not state follow from the new one");
  }
  return out;
}

}  // namespace chipweave::cli
