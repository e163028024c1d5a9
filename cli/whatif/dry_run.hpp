// Dry run — where the pods of a submission would be placed now. Only reads from the scheduler, so
// it may also be one in a cluster.
//
// Pods are placed one after another, as by submit(); of a gang, as far as its pods name it, as many
// as it needs or none. What only the scheduler knows does not count: CPU and memory, the network,
// and gangs that other objects than pods make.
#pragma once

#include <vector>

#include "cli/submit.hpp"

namespace chipweave::cli {

// One entry per pod, in the order given. Pods that exist and have a node keep it. Errors: as
// submit().
Result<std::vector<SubmittedPod>> dry_run(SchedulerClient& scheduler,
                                          const std::vector<codec::ManifestPod>& pods,
                                          const SubmitOptions& options);

}  // namespace chipweave::cli
