#include "cli/input_file.hpp"

#include <utility>

#include "cli/terminal.hpp"
#include "common/base/limits.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {

Result<std::string> read_input(const std::string& file, std::size_t max_bytes) {
  return file == "-" ? io::read_standard_input(max_bytes) : io::read_file(file, max_bytes);
}

std::optional<codec::ImportedNetwork> load_network(const std::string& file,
                                                   const codec::NetworkImportOptions& options,
                                                   Exit& exit) {
  const Result<std::string> content = read_input(file, limits::kMaxNetworkFileBytes);
  if (!content) {
    exit = complain(content.error(), Exit::unreadable);
    return std::nullopt;
  }
  Result<codec::ImportedNetwork> imported = codec::import_network(*content, options);
  if (imported) return *std::move(imported);
  exit = complain_of_input(std::move(imported).error(), file);
  return std::nullopt;
}

Exit complain_of_input(Error error, const std::string& file) {
  const Exit exit = exit_for(error);
  if (exit == Exit::unreadable) {
    error = std::move(error).in(file == "-" ? "standard input" : "file " + file);
  }
  return complain(error, exit);
}

}  // namespace chipweave::cli
