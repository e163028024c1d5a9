// DeclaredMachine — a built-in profile or a topology file as the machine: for trials, tests, and
// machines whose topology the operator wrote down. A file that changes is read again.
#pragma once

#include <optional>
#include <string>

#include "common/io/file_stamp.hpp"
#include "node-agent/app/machine/machine_source.hpp"

namespace chipweave::agent {

class DeclaredMachine final : public MachineSource {
 public:
  enum class Source { profile, file };
  DeclaredMachine(Source source, std::string name) : source_(source), name_(std::move(name)) {}
  // Its first call always has a reading.
  MachineUpdate update() override;

 private:
  Result<domain::Observation> read();
  Source source_;
  std::string name_;
  std::optional<io::FileStamp> seen_;  // at the last reading; of a file
  bool read_ = false;
};

}  // namespace chipweave::agent
