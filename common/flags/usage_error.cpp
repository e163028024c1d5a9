#include "common/flags/usage_error.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <initializer_list>
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

// The command that the error is about, and the words that call it: the first one with an argument
// that it does not know, else the innermost one that was named.
struct Command {
  const CLI::App* app;
  std::string words;
};

Command wrong_command(const CLI::App& app) {
  Command command{&app, app.get_name()};
  while (!command.app->get_subcommands().empty() && command.app->remaining().empty()) {
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

// The parts of a message around fixed words, such as {"", " excludes "}, of which the first begins
// it; empty if it is another message.
std::vector<std::string> parts(std::string_view text,
                               std::initializer_list<std::string_view> words) {
  std::vector<std::string> out;
  if (!text.starts_with(*words.begin())) return out;
  text.remove_prefix(words.begin()->size());
  for (const auto* word = words.begin() + 1; word != words.end(); ++word) {
    const std::size_t at = text.find(*word);
    if (at == std::string_view::npos) return {};
    out.emplace_back(text.substr(0, at));
    text.remove_prefix(at + word->size());
  }
  out.emplace_back(text);
  return out;
}

// "Could not convert: --size = two", "--print: Should be true/false or a number"
std::string not_converted(const CLI::App& command, const std::string& text) {
  if (const auto p = parts(text, {"Could not convert: ", " = "}); !p.empty())
    return p[0] + ": expected " + std::string(expected_by(command, p[0])) + ", got " +
           in_quotes(p[1]);
  const auto p = parts(text, {"", ": "});
  return p.empty() ? text : p[0] + ": expected true or false";
}

// "--size: 1 required INT missing", "--ports: At least 2 required but received 1", "--size: At Most
// 1 required but received 2",
// "Expected exactly 1 arguments to --size, got 2"
std::string wrong_number(const CLI::App& command, const std::string& text) {
  if (const auto p = parts(text, {"", ": "}); !p.empty() && text.ends_with(" missing"))
    return p[0] + ": expected " + std::string(expected_by(command, p[0])) + ", got none";
  if (const auto p = parts(text, {"", ": At least ", " required but received "}); !p.empty())
    return p[0] + ": expected at least " + p[1] + " values, got " + p[2];
  if (const auto p = parts(text, {"", ": At Most ", " required but received "}); !p.empty())
    return p[0] + ": expected " + (p[1] == "1" ? "one value" : "at most " + p[1] + " values") +
           ", got " + p[2];
  const auto p = parts(text, {"Expected ", " to ", ", got "});
  if (p.empty()) return text;
  const bool at_least = p[0].starts_with("at least");
  return p[1] + ": expected " + (at_least ? "at least one value" : "one value") + ", got " + p[2];
}

// "1.500000" → "1.5"
std::string without_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

// "Value 0 not in range 1 to 5"; CLI11 gives the same for what is not a number.
std::string out_of_range(const CLI::App& command, const std::string& flag, std::string value,
                         const std::string& low, const std::string& high) {
  if (const auto bare = parts(value, {"Value "}); !bare.empty()) value = bare[0];
  const std::string_view kind = expected_by(command, flag);
  const std::size_t digits = value.starts_with('-') ? 1 : 0;
  const bool whole =
      value.size() > digits && value.find_first_not_of("0123456789", digits) == std::string::npos;
  if (kind.find("whole") != std::string_view::npos && !whole)
    return flag + ": expected a whole number from " + low + " to " + high + ", got " +
           in_quotes(value);
  return flag + ": must be between " + without_zeros(low) + " and " + without_zeros(high) +
         ", got " + in_quotes(value);
}

// Validators say "--size: Value 0 not in range 1 to 5" and "--to: x not in {json,yaml}".
std::string not_valid(const CLI::App& command, const std::string& text) {
  if (const auto p = parts(text, {"", ": ", " not in range ", " to "}); !p.empty())
    return out_of_range(command, p[0], p[1], p[2], p[3]);
  if (const auto p = parts(text, {"", ": ", " not in {", "}"}); !p.empty())
    return p[0] + ": unknown value " + in_quotes(p[1]) + did_you_mean(p[1], split(p[2], ',')) +
           "; known: " + joined(split(p[2], ','), ", ");
  return text;
}

// "--batch excludes --size"
std::string excluded(const std::string& text) {
  const auto p = parts(text, {"", " excludes "});
  return p.empty() ? text : p[0] + " cannot be combined with " + p[1];
}

std::string missing(const CLI::App& command, const std::string& text) {
  if (!text.starts_with("A subcommand")) return text;
  return "a command is required; known: " + joined(commands_of(command), ", ");
}

std::string what_is_wrong(const CLI::App& command, const CLI::ParseError& error) {
  std::string text = error.what();
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
      return not_valid(command, text);
    case code_of(CLI::ExitCodes::ExcludesError):
      return excluded(text);
    default:
      return text;
  }
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const Command command = wrong_command(app);
  return what_is_wrong(*command.app, error) + "; see '" + command.words + " --help'";
}

}  // namespace chipweave::flags
