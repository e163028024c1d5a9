// GateHandler — the mutating webhook for the creation of pods: members of gangs get a scheduling
// gate.
//
// It decides from the pod alone, so every replica answers, also while it starts or does not lead.
// Owner: the loop thread.
#pragma once

#include <string>
#include <utility>

#include "common/http/server.hpp"
#include "scheduler-plugin/kube/gang_gate.hpp"

namespace chipweave::sched {

class GateHandler {
 public:
  static constexpr const char* kPath = "/admission/gate";

  // resources must outlive the handler.
  GateHandler(const ResourceTable& resources, GateOptions options)
      : resources_(resources), options_(std::move(options)) {}

  http::Response review(std::string& body) const;

 private:
  const ResourceTable& resources_;
  GateOptions options_;
};

}  // namespace chipweave::sched
