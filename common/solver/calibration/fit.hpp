// Fits the constants of a machine to measured bandwidths (docs/tasks/calibrate-the-model.md).
//
// Each point is decided by a kind of link or host path: the one whose constant the prediction is
// proportional to. Per kind the constant r minimises the squared relative errors over its points,
//
//   Σ ((c_i r - m_i) / m_i)²,   so   r = Σ a_i / Σ a_i²   with   a_i = c_i / m_i,
//
// where m_i is measured and c_i is the prediction for a constant of 1. Points that several kinds
// decide together fit no single constant; they are reported and not used.
#pragma once

#include <map>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

struct CalibrationPoint {
  domain::ChipSet chips;
  double gbps = 0;  // measured bus bandwidth, above 0
};

struct FittedPoint {
  double before = 0;  // predicted, GB/s
  double after = 0;
  std::vector<domain::LinkKind> decided_by;  // by more than one kind: not used
  bool used() const { return decided_by.size() == 1; }
};

struct FittedRate {
  domain::LinkKind kind = domain::LinkKind::nvlink;
  double before = 0;  // GB/s of a lane or a host path
  double after = 0;
  std::size_t points = 0;
};

struct Fit {
  std::vector<FittedPoint> points;  // in the order of the input
  std::vector<FittedRate> rates;    // ascending by kind
};

// Errors: no point is decided by one kind; links of one kind have different constants; a constant
// beyond what it can be (domain/rate_overlay.hpp); a constant with which another kind would decide.
// Cost: some predictions per point.
Result<Fit> fit_rates(const domain::NodeTopology& topology,
                      const std::vector<CalibrationPoint>& points);

}  // namespace chipweave::solver
