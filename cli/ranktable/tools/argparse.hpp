// ArgSpec — the words a program understands, read as Python's argparse reads them: the reference
// generators of rank tables are Python programs, and start scripts are written for their quirks.
//
// `--opt value` and `--opt=value`; an option that takes a list takes all words up to the next
// option; given twice, the last counts; a beginning of a name will do where it fits only one; what
// looks like a negative number is no option; "--" ends options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::cli {

enum class Takes { nothing, one, two, any_number, at_least_one };

struct ArgOption {
  std::string name;  // "--save-dir"
  Takes takes = Takes::one;
  std::string value;  // what the help calls it: "DIR"
  std::string help;
  std::vector<std::string> choices;  // the only values, if any
  // Not by its beginning: for options that the reference does not have, so that they do not make
  // beginnings ambiguous that scripts use.
  bool full_name_only = false;
};

struct ArgSpec {
  std::string program;  // as it was called
  std::string about;
  std::vector<ArgOption> options;  // besides -h, --help
  std::string files;     // what the help calls words without option; empty: there are none
  std::string examples;  // lines, indented
};

struct ArgWords {
  bool help = false;                                      // asked for: nothing else counts
  std::map<std::string, std::vector<std::string>> given;  // by name of the option
  std::vector<std::string> files;

  bool has(const std::string& option) const { return given.contains(option); }
  // The one value; `fallback` where the option was not given.
  std::string one(const std::string& option, const std::string& fallback) const;
  std::vector<std::string> list(const std::string& option) const;
};

// Errors in the words of argparse: "argument --mode: invalid choice: …".
Result<ArgWords> parse_words(const ArgSpec& spec, const std::vector<std::string>& words);

// "usage: …", wrapped; with a line end.
std::string usage_text(const ArgSpec& spec);
std::string help_text(const ArgSpec& spec);

}  // namespace chipweave::cli
