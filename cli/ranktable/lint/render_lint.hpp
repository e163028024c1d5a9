// Findings about a rank table as text for people, as JSON for scripts, and as SARIF 2.1.0 for code
// review tools.
#pragma once

#include <string>

#include "common/codec/ranktable/lint/lint_text.hpp"

namespace chipweave::cli {

// The files of the command, which the commands that findings advise name.
struct LintFiles {
  std::string table;
  std::string network;  // empty: none
};

// A text as one word of a shell's command line.
std::string shell_word(const std::string& text);

// One line for each finding, "FILE:LINE:COLUMN: severity RT012: …", and a summary.
std::string render_lint(const codec::ranktable::LintedText& linted, const LintFiles& files,
                        bool colours);
std::string lint_json(const codec::ranktable::LintedText& linted, const LintFiles& files);
std::string lint_sarif(const codec::ranktable::LintedText& linted, const LintFiles& files);

}  // namespace chipweave::cli
