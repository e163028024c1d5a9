// A built-in machine for tests.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::cli::test {

inline domain::NodeTopology profile(std::string_view name) {
  const profiles::Profile* found = profiles::find(name);
  EXPECT_NE(found, nullptr) << name;
  auto imported = codec::import_topology_json(found->json, {});
  EXPECT_TRUE(imported.ok());
  return std::move(imported->topology);
}

}  // namespace chipweave::cli::test
