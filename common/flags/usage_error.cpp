#include "common/flags/usage_error.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"

namespace chipweave::flags {
namespace {

using Names = std::vector<std::string_view>;

// A flag that a message repeats is cut at this length.
constexpr std::size_t kMaxFlagBytes = 60;

constexpr int code_of(CLI::ExitCodes code) { return static_cast<int>(code); }

// The innermost command that was named, and the words that call it.
struct Command {
  const CLI::App* app;
  std::string words;
};

Command innermost(const CLI::App& app) {
  Command command{&app, app.get_name()};
  while (!command.app->get_subcommands().empty()) {
    command.app = command.app->get_subcommands().front();
    command.words += " " + command.app->get_name();
  }
  return command;
}

Names commands_of(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (!command->get_name().empty()) names.push_back(command->get_name());
  }
  return names;
}

std::string unknown_word(const CLI::App& command, const std::string& word) {
  if (word.starts_with('-')) {
    // the name alone: "--size=2" was typed for "--sise=2"
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> dashed;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& known : option->get_lnames()) dashed.push_back("--" + known);
    }
    return "unknown flag " + printable(name.substr(0, kMaxFlagBytes)) +
           did_you_mean(name, Names(dashed.begin(), dashed.end()));
  }
  const Names known = commands_of(command);
  if (known.empty()) return "unexpected argument " + in_quotes(word);
  return "unknown command " + in_quotes(word) + did_you_mean(word, known) +
         "; known: " + joined(known, ", ");
}

// A human-readable name for CLI11's type name.
std::string_view kind_of_value(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kKinds = {
      {{"INT", "a whole number"},
       {"UINT", "a whole number from 0"},
       {"FLOAT", "a number"},
       {"BOOLEAN", "true or false"}}};
  for (const auto& [name, kind] : kKinds) {
    if (type.starts_with(name)) return kind;
  }
  return "a value";
}

std::string_view expected_by(const CLI::App& command, const std::string& name) {
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr) return "a value";
  return option->get_items_expected_max() == 0 ? "true or false"
                                               : kind_of_value(option->get_type_name());
}

// The text behind `prefix`; nullopt if `text` starts otherwise.
std::optional<std::string> behind(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return std::string(text.substr(prefix.size()));
}

// "Could not convert: --size = two", "--print: Should be true/false or a number"
std::string not_converted(const CLI::App& command, const std::string& text) {
  if (const auto what = behind(text, "Could not convert: ")) {
    const std::size_t middle = what->find(" = ");
    const std::string name = what->substr(0, middle);
    const std::string value = middle == std::string::npos ? "" : what->substr(middle + 3);
    return name + ": expected " + std::string(expected_by(command, name)) + ", got " +
           in_quotes(value);
  }
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos) return text;
  return text.substr(0, colon) + ": expected true or false";
}

// "--size: 1 required INT missing", "--ports: At least 2 required but received 1",
// "Expected exactly 1 arguments to --size, got 2"
std::string wrong_number(const CLI::App& command, const std::string& text) {
  if (const std::size_t colon = text.find(": "); text.ends_with(" missing")) {
    const std::string name = text.substr(0, colon);
    return name + ": expected " + std::string(expected_by(command, name)) + ", got none";
  }
  if (const auto counts = text.find(": At least "); counts != std::string::npos) {
    const std::size_t received = text.find(" required but received ");
    if (received == std::string::npos) return text;
    constexpr std::string_view kAtLeast = ": At least ";
    const std::size_t number = counts + kAtLeast.size();
    return text.substr(0, counts) + ": expected at least " +
           text.substr(number, received - number) + " values, got " +
           text.substr(text.rfind(' ') + 1);
  }
  const std::size_t to = text.find(" to ");
  const std::size_t got = text.find(", got ");
  if (to == std::string::npos || got == std::string::npos) return text;
  const bool at_least = text.starts_with("Expected at least");
  return text.substr(to + 4, got - to - 4) + ": expected " +
         (at_least ? "at least one value" : "one value") + text.substr(got);
}

// Validators say "--size: Value 0 not in range 1 to 5" and "--to: x not in {json,yaml}".
std::string not_valid(const std::string& text) {
  const std::size_t colon = text.find(": ");
  const std::size_t range = text.find(" not in range ");
  const std::size_t set = text.find(" not in {");
  if (colon == std::string::npos) return text;
  const std::string name = text.substr(0, colon + 2);
  if (range != std::string::npos) {
    std::string value = text.substr(colon + 2, range - colon - 2);
    if (const auto bare = behind(value, "Value ")) value = *bare;
    std::string limits = text.substr(range + std::string_view(" not in range ").size());
    if (const std::size_t to = limits.find(" to "); to != std::string::npos)
      limits.replace(to, 4, " and ");
    return name + "must be between " + limits + ", got " + in_quotes(value);
  }
  if (set != std::string::npos && text.ends_with('}')) {
    const std::string list = text.substr(set + 9, text.size() - set - 10);
    std::string known;
    for (const char c : list) known += c == ',' ? std::string(", ") : std::string(1, c);
    return name + "unknown value " + in_quotes(text.substr(colon + 2, set - colon - 2)) +
           "; known: " + known;
  }
  return text;
}

// "--batch excludes --size"
std::string excluded(const std::string& text) {
  const std::size_t at = text.find(" excludes ");
  if (at == std::string::npos) return text;
  return text.substr(0, at) + " cannot be combined with " + text.substr(at + 10);
}

std::string missing(const CLI::App& command, const std::string& text) {
  if (!text.starts_with("A subcommand")) return text;
  return "a command is required; known: " + joined(commands_of(command), ", ");
}

std::string what_is_wrong(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  // An unknown argument explains more than the missing one that results from it.
  const std::vector<std::string> unknown = command.remaining();
  if (!unknown.empty()) return unknown_word(command, unknown.front());
  switch (error.get_exit_code()) {
    case code_of(CLI::ExitCodes::RequiredError):
      return missing(command, text);
    case code_of(CLI::ExitCodes::ConversionError):
      return not_converted(command, text);
    case code_of(CLI::ExitCodes::ArgumentMismatch):
      return wrong_number(command, text);
    case code_of(CLI::ExitCodes::ValidationError):
      return not_valid(text);
    case code_of(CLI::ExitCodes::ExcludesError):
      return excluded(text);
    default:
      return text;
  }
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const Command command = innermost(app);
  return what_is_wrong(*command.app, error) + "; see '" + command.words + " --help'";
}

}  // namespace chipweave::flags
