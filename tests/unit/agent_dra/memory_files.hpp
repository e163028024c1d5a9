// MemoryFiles — the files of a DRA driver in memory. The test decides which operation fails, and
// after which the driver is killed: before it is done, or when it is done and not yet answered.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node-agent/dra/claims/driver_files.hpp"

namespace chipweave::agent::dra {

struct Killed {};

class MemoryFiles final : public DriverFiles {
 public:
  Result<std::string> read(const std::string& path) override {
    const auto found = files.find(path);
    if (found == files.end()) return make_error(Errc::not_found, "no such file").in(path);
    return found->second;
  }
  Result<void> write(const std::string& path, const std::string& content) override {
    if (auto ok = before(path); !ok) return ok;
    files[path] = content;
    after();
    return {};
  }
  Result<void> remove(const std::string& path) override {
    if (auto ok = before(path); !ok) return ok;
    files.erase(path);
    after();
    return {};
  }
  Result<std::vector<std::string>> names(const std::string& folder) override {
    std::vector<std::string> out;
    for (const auto& [path, content] : files) {
      if (path.starts_with(folder + "/")) out.push_back(path.substr(folder.size() + 1));
    }
    return out;
  }

  // Changes left until the driver is killed; negative: it is not.
  int kill_in = -1;
  bool kill_before = false;  // or after the change
  bool full = false;         // no write works
  int writes = 0;
  std::map<std::string, std::string> files;

 private:
  Result<void> before(const std::string& path) {
    ++writes;
    if (kill_in == 0 && kill_before) throw Killed{};
    if (full)
      return make_error(Errc::unavailable, "cannot write: No space left on device").in(path);
    return {};
  }
  void after() {
    if (kill_in == 0) throw Killed{};
    if (kill_in > 0) --kill_in;
  }
};

}  // namespace chipweave::agent::dra
