// DriverFiles — the file operations of the DRA driver, each of which is done or not, so that tests
// can end the driver between any two of them.
//
// Loop thread only.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::agent::dra {

class DriverFiles {
 public:
  DriverFiles() = default;
  DriverFiles(const DriverFiles&) = delete;
  DriverFiles& operator=(const DriverFiles&) = delete;
  virtual ~DriverFiles() = default;

  // Errors: not_found, limit_exceeded, unavailable.
  virtual Result<std::string> read(const std::string& path) = 0;
  // Replaces the file atomically and durably; its folder is made if it is missing.
  virtual Result<void> write(const std::string& path, const std::string& content) = 0;
  // ok if there is no such file.
  virtual Result<void> remove(const std::string& path) = 0;
  // Names of the files in a folder; none if there is no such folder.
  virtual Result<std::vector<std::string>> names(const std::string& folder) = 0;
};

// Those of this machine.
class SystemFiles final : public DriverFiles {
 public:
  Result<std::string> read(const std::string& path) override;
  Result<void> write(const std::string& path, const std::string& content) override;
  Result<void> remove(const std::string& path) override;
  Result<std::vector<std::string>> names(const std::string& folder) override;
};

}  // namespace chipweave::agent::dra
