#include "node-agent/sources/health_policy_files.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/agent/health_policy.hpp"
#include "common/codec/ascend/fault_levels.hpp"
#include "common/io/files.hpp"
#include "node-agent/sources/fault_code_rules.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxPolicyBytes = limits::kMaxConfigBytes * 4;

Result<domain::HealthPolicy> with_file(const std::string& path, domain::HealthPolicy under) {
  if (path.empty()) return under;
  const auto text = io::read_file(path, kMaxPolicyBytes);
  if (!text) return Error(text.error());
  auto policy = codec::read_health_policy(*text, under);
  if (!policy) return std::move(policy).error().in("file " + path);
  return policy;
}

Result<void> add_fault_codes(const std::string& path, LoadedPolicy& to) {
  if (path.empty()) return {};
  const auto text = io::read_file(path, codec::ascend::kMaxFaultTableBytes);
  if (!text) return Error(text.error());
  auto table = codec::ascend::read_fault_table(*text);
  if (!table) return std::move(table).error().in("file " + path);
  for (const std::string& warning : table->warnings) {
    to.warnings.push_back("file " + path + ": " + warning);
  }
  auto rules = rules_of(*table);
  to.policy.rules.insert(to.policy.rules.begin(), rules.begin(), rules.end());
  return {};
}

}  // namespace

Result<LoadedPolicy> load_health_policy(const std::string& policy_file,
                                        const std::string& fault_codes_file) {
  auto built_in = codec::read_health_policy(codec::default_health_policy());
  if (!built_in) return std::move(built_in).error().in("built-in health policy");
  auto policy = with_file(policy_file, *std::move(built_in));
  if (!policy) return std::move(policy).error();
  LoadedPolicy out{*std::move(policy), {}};
  if (auto ok = add_fault_codes(fault_codes_file, out); !ok) return std::move(ok).error();
  return out;
}

Result<std::string> print_health_policy(const std::string& policy_file,
                                        const std::string& fault_codes_file) {
  if (policy_file.empty() && fault_codes_file.empty()) {
    return std::string(codec::default_health_policy());
  }
  auto loaded = load_health_policy(policy_file, fault_codes_file);
  if (!loaded) return std::move(loaded).error();
  return "# The policy in force, the first rule that matches a code first.\n" +
         codec::write_health_policy(loaded->policy);
}

}  // namespace chipweave::agent
