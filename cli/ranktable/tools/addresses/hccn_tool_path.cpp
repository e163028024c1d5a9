#include "cli/ranktable/tools/addresses/hccn_tool_path.hpp"

#include <unistd.h>

#include "common/io/hccn_program.hpp"

namespace chipweave::cli {

Result<std::string> find_hccn_tool(const std::string& named) {
  if (named.empty()) return io::installed_hccn_tool();
  if (::access(named.c_str(), X_OK) == 0) return named;
  return make_error(Errc::not_found,
                    "argument --hccn-tool: there is no program " + named + " that may be run");
}

}  // namespace chipweave::cli
