// Findings about a rank table as text for people, as JSON for scripts, and as SARIF 2.1.0 for code
// review tools.
#pragma once

#include <string>

#include "common/codec/ranktable/lint/lint_text.hpp"

namespace chipweave::cli {

// One line for each finding, "FILE:LINE:COLUMN: severity RT012: …", and a summary.
std::string render_lint(const codec::ranktable::LintedText& linted, const std::string& file,
                        bool colours);
std::string lint_json(const codec::ranktable::LintedText& linted, const std::string& file);
std::string lint_sarif(const codec::ranktable::LintedText& linted, const std::string& file);

}  // namespace chipweave::cli
