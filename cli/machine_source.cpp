#include "cli/machine_source.hpp"

#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/input_file.hpp"
#include "cli/options.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/domain/link_rates.hpp"
#include "common/io/files.hpp"
#include "common/io/machine_content.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::cli {
namespace {

// npu-smi texts are the one format that can hold several machines.
Result<codec::ImportedTopology> load_one_of_several(const MachineSource& machine,
                                                    const std::string& content) {
  const codec::ImportOptions import{machine.model};
  Result<std::vector<codec::ImportedTopology>> all = codec::import_npu_smi_all(content, import);
  if (!all) return std::move(all).error().in(input_name(machine.source));
  std::size_t index = 0;
  const char* end = machine.index.data() + machine.index.size();
  const bool too_large =
      !machine.index.empty() && std::from_chars(machine.index.data(), end, index).ec != std::errc{};
  if (too_large || index >= all->size()) {
    return make_error(Errc::invalid_argument, "must be less than " + std::to_string(all->size()) +
                                                  ", the number of matrices in " +
                                                  shown_source(machine))
        .in("--index");
  }
  codec::ImportedTopology chosen = std::move((*all)[index]);
  if (machine.index.empty() && all->size() > 1) {
    chosen.warnings.push_back("the file has " + std::to_string(all->size()) +
                              " matrices, this is the first; choose with --index N");
  }
  return chosen;
}

// The content of a file that is read here, so that it can be imported twice; nothing for profiles
// and folders, and for what cannot be opened, which io::load_machine() explains.
Result<std::optional<std::string>> content_of(const std::string& source) {
  std::error_code ignored;
  const bool is_input = source == "-" || (profiles::find(source) == nullptr &&
                                          std::filesystem::exists(source, ignored) &&
                                          !std::filesystem::is_directory(source, ignored));
  if (!is_input) return std::optional<std::string>();
  auto content = read_input(source, limits::kMaxTopologyFileBytes);
  if (!content) return std::move(content).error();
  return std::optional(*std::move(content));
}

std::string model_error(const std::string& model) {
  if (domain::is_known_model(model)) return "";
  return unknown_name("model", model, domain::known_models());
}

}  // namespace

std::string shown_source(const MachineSource& machine) {
  return machine.source == "-" ? "standard input" : machine.source;
}

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
  Result<std::optional<std::string>> text = content_of(machine.source);
  if (!text) return std::move(text).error();
  const std::optional<std::string>& content = *text;
  const auto load = [&](const codec::ImportOptions& options) {
    return content ? io::machine_in_content(*content, input_name(machine.source), options)
                   : io::load_machine(machine.source, options);
  };
  const bool several = content && codec::looks_like_npu_smi(*content);
  if (!several && machine.index.find_first_not_of('0') != std::string::npos) {
    return make_error(Errc::invalid_argument,
                      "must be 0: " + shown_source(machine) + " has one machine")
        .in("--index");
  }
  Result<codec::ImportedTopology> out =
      several ? load_one_of_several(machine, *content) : load({machine.model});
  if (!out || machine.model.empty()) return out;
  const auto without_flag = load({});
  const std::string own = without_flag ? without_flag->topology.model() : "";
  if (!own.empty() && upper_case(own) != upper_case(machine.model)) {
    out->warnings.push_back("--model " + machine.model + " replaces the model of " +
                            shown_source(machine) + ", " + in_quotes(own) +
                            "; rates that it does not state follow from the new one");
  }
  return out;
}

}  // namespace chipweave::cli
