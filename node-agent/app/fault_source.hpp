// FaultSource — where the agent learns what people and other programs know to be broken beside what
// the probe sees.
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

  // What it says now if that may differ from the last answer, else nullopt. The first call always
  // answers. Cheap.
  virtual std::optional<Result<domain::DeclaredFaults>> changes() = 0;
};

}  // namespace chipweave::agent
