// FaultSource — faults that operators and other programs report besides those that the probe finds.
#pragma once

#include <optional>

#include "common/base/result.hpp"
#include "common/domain/declared_faults.hpp"

namespace chipweave::agent {

class FaultSource {
 public:
  FaultSource() = default;
  FaultSource(const FaultSource&) = delete;
  FaultSource& operator=(const FaultSource&) = delete;
  virtual ~FaultSource() = default;

  // The current faults if they may have changed since the last call, else nullopt. The first call
  // always returns them. Cheap.
  virtual std::optional<Result<domain::DeclaredFaults>> changes() = 0;
};

}  // namespace chipweave::agent
