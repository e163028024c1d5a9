// MachineProbe — a built-in profile or a topology file as the machine: for standalone trials,
// tests, and machines whose topology the operator wrote down. A file that changes is read again.
#pragma once

#include <string>

#include "node-agent/app/probe.hpp"
#include "node-agent/probes/file_stamp.hpp"

namespace chipweave::agent {

class MachineProbe final : public Probe {
 public:
  enum class Source { profile, file };
  MachineProbe(Source source, std::string name) : source_(source), name_(std::move(name)) {}
  Result<domain::Observation> discover() override;
  bool changes() override;

 private:
  Source source_;
  std::string name_;
  FileStamp seen_;
};

}  // namespace chipweave::agent
