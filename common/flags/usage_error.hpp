// Messages for unusable command lines: rewrites CLI11's errors in the forms that all messages of
// this product have.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace chipweave::flags {

// One sentence with the problem and the command whose --help describes it:
//   unknown flag --sise (did you mean "--size"?); see 'chipweave place --help'
//   --size: expected a whole number, got "two"; see 'chipweave place --help'
// `app` is the program after its parse() threw `error`.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace chipweave::flags
