// Internal to SimulatedApi: the ConfigMaps of the scheduler's namespace, of which it watches those
// with its label.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/kube/transport.hpp"

namespace chipweave::sched::test {

struct SimulatedConfigMaps {
  // As SimulatedClaims::Changed.
  using Changed = std::function<void(const std::string&, const std::string&)>;
  static constexpr const char* kPath = "/api/v1/namespaces/chipweave-system/configmaps";

  std::map<std::string, nlohmann::json> all;  // by name
  int refuse_lists = 0;                       // a status code; 0: answers them
  int refuse_writes = 0;                      // likewise

  // A request for one of them, or a POST.
  static bool mine(const kube::Call& call, const std::string& path);
  kube::Reply answer(const kube::Call& call, const std::string& path, std::uint64_t& version,
                     const Changed& changed);
  // As a person makes or changes it; null: deletes it.
  void set(const std::string& name, const nlohmann::json& object, std::uint64_t& version,
           const Changed& changed);
  // With the label.
  std::vector<std::string> objects() const;

 private:
  std::uint64_t uids_ = 0;
};

}  // namespace chipweave::sched::test
