// The order of ranks as launchers take it: hostfile (Open MPI, DeepSpeed), machinefile (hydra),
// rankfile (Open MPI), SLURM_HOSTFILE, torchrun's node ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/convert.hpp"

namespace chipweave::cli {

const std::vector<std::string_view>& launcher_forms();

// Error where the form cannot say it: hostfiles need the ranks of a host to be one run, torchrun
// the same number on every host, too. Ends with a newline.
Result<std::string> launcher_text(const std::vector<domain::ranktable::RankedHost>& hosts,
                                  std::string_view form);

}  // namespace chipweave::cli
