// The order of ranks in the formats of launchers: hostfile (Open MPI, DeepSpeed), machinefile
// (hydra), rankfile (Open MPI), SLURM_HOSTFILE, torchrun's node ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/convert.hpp"

namespace chipweave::cli {

const std::vector<std::string_view>& launcher_forms();

// Error if the form cannot express the order: hostfiles need consecutive ranks on each host,
// torchrun also the same number on every host. A rankfile gives every rank the cores of the first
// cpu_packages packages of its host. Ends with a newline.
Result<std::string> launcher_text(const std::vector<domain::ranktable::RankedHost>& hosts,
                                  std::string_view form, int cpu_packages = 1);

}  // namespace chipweave::cli
