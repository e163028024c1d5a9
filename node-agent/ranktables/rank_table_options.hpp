// RankTableOptions — of which namespaces the agent keeps rank tables as files on its node, and
// where.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::agent {

// Where MindCluster's operator writes them.
inline constexpr const char* kRankTableFolder = "/user/mindx-dl/ranktable";

struct RankTableOptions {
  std::vector<std::string> namespaces;  // empty: no files
  std::string folder = kRankTableFolder;
};

// "NAMESPACE[,NAMESPACE…]": each once, at most 64. Errors: invalid_argument, limit_exceeded.
Result<std::vector<std::string>> read_rank_table_namespaces(const std::string& text);

}  // namespace chipweave::agent
