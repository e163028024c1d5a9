#include "cli/machine_input.hpp"

#include "cli/input_file.hpp"
#include "common/base/limits.hpp"
#include "common/io/files.hpp"
#include "common/io/machine_content.hpp"

namespace chipweave::cli {

Result<codec::ImportedTopology> load_machine_input(const std::string& source,
                                                   const codec::ImportOptions& options) {
  if (source != "-") return io::load_machine(source, options);
  const auto content = read_input(source, limits::kMaxTopologyFileBytes);
  if (!content) return Error(content.error());
  return io::machine_in_content(*content, input_name(source), options);
}

}  // namespace chipweave::cli
