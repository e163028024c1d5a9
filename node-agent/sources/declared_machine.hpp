// DeclaredMachine — a built-in profile or a topology file as the machine: for trials, tests, and
// machines whose topology the operator wrote down. A file that changes is read again.
#pragma once

#include <string>

#include "common/io/file_stamp.hpp"
#include "node-agent/app/machine_source.hpp"

namespace chipweave::agent {

class DeclaredMachine final : public MachineSource {
 public:
  enum class Source { profile, file };
  DeclaredMachine(Source source, std::string name) : source_(source), name_(std::move(name)) {}
  Result<domain::Observation> discover() override;
  bool changes() override;

 private:
  Source source_;
  std::string name_;
  io::FileStamp seen_;
};

}  // namespace chipweave::agent
