#include "cli/input_file.hpp"

#include <utility>

#include "cli/terminal.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {

std::string input_name(const std::string& file) {
  return file == "-" ? "standard input" : "file " + file;
}

Result<void> claim_standard_input() {
  static bool claimed = false;  // as standard input, the process has it once
  if (std::exchange(claimed, true)) {
    return make_error(Errc::invalid_argument,
                      "standard input can be read only once, for one input of the command")
        .in("-");
  }
  return {};
}

Result<std::string> read_input(const std::string& file, std::size_t max_bytes) {
  if (file != "-") return io::read_file(file, max_bytes);
  if (auto claimed = claim_standard_input(); !claimed) return std::move(claimed).error();
  return io::read_standard_input(max_bytes);
}

std::string standard_input_error(std::initializer_list<NamedInput> inputs) {
  const char* first = nullptr;
  for (const NamedInput& input : inputs) {
    if (input.file != "-") continue;
    if (first != nullptr) {
      return concat(first, " - cannot be combined with ", input.flag,
                    " -: both read standard input");
    }
    first = input.flag;
  }
  return "";
}

std::optional<codec::ImportedNetwork> load_network(const std::string& file,
                                                   const codec::NetworkImportOptions& options,
                                                   Exit& exit) {
  const Result<std::string> content = read_input(file, limits::kMaxNetworkFileBytes);
  if (!content) {
    exit = complain_of_reading(content.error());
    return std::nullopt;
  }
  Result<codec::ImportedNetwork> imported = codec::import_network(*content, options);
  if (imported) return *std::move(imported);
  exit = complain_of_input(std::move(imported).error(), file);
  return std::nullopt;
}

Exit complain_of_input(Error error, const std::string& file) {
  const Exit exit = exit_for(error);
  if (exit == Exit::unreadable) error = std::move(error).in(input_name(file));
  return complain(error, exit);
}

Exit complain_of_reading(const Error& error) { return complain(error, exit_for(error)); }

}  // namespace chipweave::cli
