// Bodies that real schedulers and API servers sent, if the folder with them exists.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/support/paths.hpp"

namespace chipweave::codec {

inline std::optional<std::string> capture(const std::string& name) {
  return test::file_content(test::shared_data_path("captures/" + name));
}

#define REQUIRE_CAPTURE(var, name)                        \
  auto var##_text = capture(name);                        \
  if (!var##_text) GTEST_SKIP() << "no capture " << name; \
  std::string& var = *var##_text

}  // namespace chipweave::codec
