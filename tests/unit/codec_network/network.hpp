// Short forms for the tests of network descriptions.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/network/export.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::codec {

using Path = std::vector<std::string>;

inline std::string network_error_of(std::string_view text,
                                    const NetworkImportOptions& options = {}) {
  const auto network = import_network(text, options);
  return network.ok() ? "(no error)" : network.error().text();
}

// The table; a failed expectation and an empty one for an error.
inline ImportedNetwork imported(std::string_view text, const NetworkImportOptions& options = {}) {
  auto network = import_network(text, options);
  EXPECT_TRUE(network.ok()) << (network.ok() ? "" : network.error().text());
  return network.ok() ? *std::move(network) : ImportedNetwork{};
}

inline std::string exported(const domain::NetworkTable& table, std::string_view format) {
  const auto out = export_network(table, format);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
  return out.ok() ? out->text : "";
}

inline Path path_of(const domain::NetworkTable& table, std::string_view name) {
  for (const domain::NetworkNode& node : table.nodes) {
    if (node.name == name) return node.path;
  }
  return {"(no such node)"};
}

// Sizes of the domains of a level by whole path, ascending; nodes outside are left out.
inline std::vector<int> sizes_of(const domain::NetworkTable& table, std::size_t level) {
  std::map<Path, int> nodes;
  for (const domain::NetworkNode& node : table.nodes) {
    const Path path(node.path.begin(), node.path.begin() + static_cast<std::ptrdiff_t>(level) + 1);
    if (std::find(path.begin(), path.end(), "") == path.end()) ++nodes[path];
  }
  std::vector<int> out;
  out.reserve(nodes.size());
  for (const auto& [unused, size] : nodes) out.push_back(size);
  std::sort(out.begin(), out.end());
  return out;
}

// Name → path and accelerator, for tables that may differ in order.
inline std::map<std::string, std::pair<Path, Path>> places(const domain::NetworkTable& table) {
  std::map<std::string, std::pair<Path, Path>> out;
  for (const domain::NetworkNode& node : table.nodes) {
    out[node.name] = {node.path, node.accelerator};
  }
  return out;
}

}  // namespace chipweave::codec
