// Makes a tree of files from the input: a line that starts with '/' names the next file; the lines
// after it are its content.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/codec/topology/import.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  chipweave::codec::FileTree files;
  std::string path = "nodes/0/properties";
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.substr(0, 1) == "/") {
      path = line.substr(1);
    } else {
      files[path].append(line).append("\n");
    }
  }
  const auto imported = chipweave::codec::import_kfd_tree(files, {});
  if (imported.ok() && imported->topology.chip_count() == 0) std::abort();
  return 0;
}
