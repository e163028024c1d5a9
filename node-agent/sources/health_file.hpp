// HealthFile — the FaultSource behind --health-file. A file that does not exist when the agent
// starts means that nothing is broken; one that vanishes later is an error like an invalid one,
// because deleting a file must not hide a fault.
#pragma once

#include <string>

#include "common/io/file_stamp.hpp"
#include "node-agent/app/fault_source.hpp"

namespace chipweave::agent {

class HealthFile final : public FaultSource {
 public:
  explicit HealthFile(std::string path) : path_(std::move(path)) {}
  std::optional<Result<domain::DeclaredFaults>> changes() override;

 private:
  Result<domain::DeclaredFaults> read() const;
  std::string path_;
  std::optional<io::FileStamp> seen_;
};

}  // namespace chipweave::agent
