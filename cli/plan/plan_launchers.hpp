// A plan in the formats of launchers: hostfile and rankfile of Open MPI, command lines of torchrun
// for each pod, a script that runs mpirun with the chips of each pod.
#pragma once

#include <string>
#include <string_view>

#include "cli/plan/plan_engine.hpp"
#include "common/base/result.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {

// form: hostfile, rankfile, torchrun or mpi.
//
// One rank a chip, unless the gang's communicators say how many ranks a pod has. torchrun and mpi
// set the vendor's variable of visible devices to the pod's chips, in the order of its ranks, and
// exclude adapters that are down from NCCL. Errors: pods that run already, since a launcher starts
// all ranks; pods of different sizes for torchrun; ranks that are not host after host for a
// hostfile. Ends with a newline.
Result<std::string> plan_for_launcher(const codec::PlanRequest& request,
                                      const PlanEngine::Prepared& prepared,
                                      const PlanEngine::Decided& decided, std::string_view form,
                                      int cpu_packages);

}  // namespace chipweave::cli
