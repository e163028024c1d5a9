#include "node-agent/sources.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/obs/log.hpp"
#include "node-agent/sources/declared_machine.hpp"
#include "node-agent/sources/health_policy_files.hpp"

namespace chipweave::agent {
namespace {

constexpr const char* kProbeProgram = "chipweave-agent-probe";

std::string probe_program_path(const Flags& flags) {
  if (!flags.probe_process.empty()) return flags.probe_process;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? kProbeProgram : (self.parent_path() / kProbeProgram).string();
}

std::vector<std::string> probe_command(const Flags& flags, const codec::HardwareOptions& hardware) {
  std::vector<std::string> out = codec::to_arguments(hardware);
  out.insert(out.begin(), probe_program_path(flags));
  return out;
}

}  // namespace

Result<std::unique_ptr<Sources>> Sources::open(const Flags& flags,
                                               std::function<void()> on_change) {
  auto out = std::make_unique<Sources>();
  auto loaded = load_health_policy(flags.health_policy, flags.ascend_fault_codes);
  if (!loaded) return std::move(loaded).error();
  for (const std::string& warning : loaded->warnings) {
    obs::log(obs::Level::warn, "problem in the fault codes", {{"what", warning}});
  }
  out->policy_ = std::move(loaded->policy);
  if (!flags.health_file.empty()) {
    out->health_.emplace(flags.health_file);
    out->files_.push_back(flags.health_file);
  }
  if (flags.probe == ProbeKind::hardware) {
    if (auto ok = out->lock_.take(flags.hardware.sysfs_root); !ok) return std::move(ok).error();
    SupervisorOptions options;
    options.command = probe_command(flags, flags.hardware);
    if (codec::metrics_interval_of(flags.hardware).count() > 0) {
      codec::HardwareOptions without = flags.hardware;
      without.metrics_interval = "0";
      options.command_without_measuring = probe_command(flags, without);
    }
    options.warning = [](const std::string& text) {
      obs::log(obs::Level::warn, "probe warning", {{"what", text}});
    };
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
