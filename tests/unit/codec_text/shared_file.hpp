// Files of the shared data folder, which is not part of the repository: tests that need it skip
// where it is absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>

namespace chipweave::codec {

inline std::filesystem::path shared_folder(const std::string& name) {
  const char* folder = std::getenv("CHIPWEAVE_SHARED_DATA");
  const std::filesystem::path root =
      folder != nullptr ? folder : std::string(CHIPWEAVE_SOURCE_DIR) + "/../shared/data";
  return root / name;
}

// "topologies/nvidia-smi/k80x4-node.txt"; nullopt if there is none.
inline std::optional<std::string> shared_file(const std::string& name) {
  std::ifstream in(shared_folder(name), std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
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
