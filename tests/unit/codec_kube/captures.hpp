// Bodies that real schedulers and API servers sent, where the folder with them is there.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace chipweave::codec {

inline std::optional<std::string> capture(const std::string& name) {
  const char* root = std::getenv("CHIPWEAVE_SHARED_DATA");
  const std::string base =
      root != nullptr ? root : std::string(CHIPWEAVE_SOURCE_DIR) + "/../shared/data";
  std::ifstream in(base + "/captures/" + name, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

#define REQUIRE_CAPTURE(var, name)                        \
  auto var##_text = capture(name);                        \
  if (!var##_text) GTEST_SKIP() << "no capture " << name; \
  std::string& var = *var##_text

}  // namespace chipweave::codec
