#include "node-agent/sources.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/agent/health_policy.hpp"
#include "common/codec/ascend/fault_levels.hpp"
#include "common/io/files.hpp"
#include "common/obs/log.hpp"
#include "node-agent/sources/declared_machine.hpp"
#include "node-agent/sources/fault_code_rules.hpp"

namespace chipweave::agent {
namespace {

constexpr const char* kProbeProgram = "chipweave-agent-probe";
constexpr std::size_t kMaxPolicyBytes = limits::kMaxConfigBytes * 4;

std::string probe_program_path(const Flags& flags) {
  if (!flags.probe_process.empty()) return flags.probe_process;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? kProbeProgram : (self.parent_path() / kProbeProgram).string();
}

Result<domain::HealthPolicy> read_policy(const std::string& path) {
  if (path.empty()) return codec::read_health_policy(codec::default_health_policy());
  const auto text = io::read_file(path, kMaxPolicyBytes);
  if (!text) return Error(text.error());
  auto policy = codec::read_health_policy(*text);
  if (!policy) return std::move(policy).error().in("file " + path);
  return policy;
}

// The rules of the site's own table win over those of the policy.
Result<void> add_fault_codes(const std::string& path, domain::HealthPolicy& policy) {
  if (path.empty()) return {};
  const auto text = io::read_file(path, codec::ascend::kMaxFaultTableBytes);
  if (!text) return Error(text.error());
  const auto table = codec::ascend::read_fault_table(*text);
  if (!table) return Error(table.error()).in("file " + path);
  for (const std::string& warning : table->warnings) {
    obs::log(obs::Level::warn, "problem in the fault codes", {{"file", path}, {"what", warning}});
  }
  auto rules = rules_of(*table);
  policy.rules.insert(policy.rules.begin(), rules.begin(), rules.end());
  return {};
}

}  // namespace

Result<std::unique_ptr<Sources>> Sources::open(const Flags& flags,
                                               std::function<void()> on_change) {
  auto out = std::make_unique<Sources>();
  auto policy = read_policy(flags.health_policy);
  if (!policy) return std::move(policy).error();
  out->policy_ = std::move(policy).value();
  if (auto ok = add_fault_codes(flags.ascend_fault_codes, out->policy_); !ok)
    return std::move(ok).error();
  if (!flags.health_file.empty()) {
    out->health_.emplace(flags.health_file);
    out->files_.push_back(flags.health_file);
  }
  if (flags.probe == ProbeKind::hardware) {
    if (auto ok = out->lock_.take(flags.hardware.sysfs_root); !ok) return std::move(ok).error();
    SupervisorOptions options;
    options.command = codec::to_arguments(flags.hardware);
    options.command.insert(options.command.begin(), probe_program_path(flags));
    out->supervisor_ = std::make_unique<ProbeSupervisor>(std::move(options), std::move(on_change));
    return out;
  }
  const bool profile = flags.probe == ProbeKind::profile;
  if (!profile) out->files_.push_back(flags.probe_name);
  out->declared_ = std::make_unique<DeclaredMachine>(
      profile ? DeclaredMachine::Source::profile : DeclaredMachine::Source::file, flags.probe_name);
  return out;
}

}  // namespace chipweave::agent
