// Lint's findings about a text as lines that tests can compare.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/codec/ranktable/lint/lint_text.hpp"

namespace chipweave::codec::ranktable {

using Lines = std::vector<std::string>;

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// "error RT012 /server_list/1/server_id", … in the order of the text.
inline Lines lines(const std::string& text,
                   domain::ranktable::Profile profile = domain::ranktable::Profile::structural) {
  LintOptions options;
  options.profile = profile;
  Lines out;
  for (const Located& each : lint_text(text, options).findings) {
    out.push_back(std::string(to_string(each.severity)) + " " + each.code + " " + each.pointer);
    EXPECT_FALSE(domain::ranktable::rule_of(each.code).title.empty()) << each.code;
    EXPECT_GT(each.message().size(), each.fact.size()) << each.code;
  }
  return out;
}

}  // namespace chipweave::codec::ranktable
