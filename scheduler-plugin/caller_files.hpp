// CallerFiles — the folder of caller-secrets: one file per caller, usually a mounted Secret. Read
// again at each check(), so that secrets are added and removed without a restart.
//
// A file that cannot be used gives its caller no access and is logged by name, never with content.
// If the folder cannot be read, the secrets in use stay valid. Owner: the loop thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "scheduler-plugin/server/caller_secrets.hpp"

namespace chipweave::sched {

class CallerFiles {
 public:
  // Errors name the folder: not_found, unavailable, limit_exceeded.
  static Result<std::unique_ptr<CallerFiles>> open(std::string folder);

  // Updated by check().
  const CallerSecrets& secrets() const { return secrets_; }
  void check();

 private:
  explicit CallerFiles(std::string folder) : folder_(std::move(folder)) {}
  Result<CallerSecrets::Caller> read(const std::string& name) const;
  Result<bool> take();
  void refuse(const std::string& name, const std::string& why);

  std::string folder_;
  CallerSecrets secrets_;
  struct Refusal {
    std::string why;
    bool logged = false;
    bool still = true;  // found by the last check
  };
  std::map<std::string, Refusal> refused_;  // by file; "": the folder
};

}  // namespace chipweave::sched
