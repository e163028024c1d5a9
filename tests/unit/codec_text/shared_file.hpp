// Files of the shared data folder, which is not part of the repository: tests that need it skip
// where it is absent.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "tests/support/paths.hpp"

namespace chipweave::codec {

inline std::filesystem::path shared_folder(const std::string& name) {
  return test::shared_data_path(name);
}

// "topologies/nvidia-smi/k80x4-node.txt"; nullopt if there is none.
inline std::optional<std::string> shared_file(const std::string& name) {
  return test::file_content(shared_folder(name));
}

// File names in a shared folder that hold `part`.
inline std::set<std::string> shared_names(const std::string& folder, const std::string& part) {
  std::set<std::string> out;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(shared_folder(folder), failed)) {
    const std::string name = entry.path().filename().string();
    if (name.find(part) != std::string::npos) out.insert(name);
  }
  return out;
}

}  // namespace chipweave::codec
