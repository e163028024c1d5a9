// The cluster of a `defrag` request as `plan` takes it, before and after the moves: what nodes have
// free, chip by chip where the machines are known.
#pragma once

#include "cli/defrag/defrag_engine.hpp"
#include "common/codec/gang/defrag_codec.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {

codec::PlanRequest cluster_before(const codec::DefragLineRequest& request,
                                  const DefragEngine::Prepared& prepared);
codec::PlanRequest cluster_after(const codec::DefragLineRequest& request,
                                 const DefragEngine::Prepared& prepared,
                                 const codec::DefragAnswer& answer);

}  // namespace chipweave::cli
