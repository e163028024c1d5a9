// chipweave calibrate nccl-tests|rccl-tests|hccl-test: constants of a machine from the logs of a
// benchmark.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/calibrate/calibration.hpp"
#include "cli/calibrate/log_machine.hpp"
#include "cli/calibrate/render_calibration.hpp"
#include "cli/chip_flags.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/machine_input.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "common/base/text.hpp"
#include "common/codec/calibration/collective_log.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {
namespace {

constexpr std::size_t kMaxLogs = 256;

struct CalibrateFlags {
  LogFormat format = LogFormat::nccl_tests;
  std::vector<std::string> files;
  std::string machine, collective, out;
  std::vector<std::string> chips;
  bool ring = false;
  OutputForm form = OutputForm::text;
};

std::string file_name(const std::string& path) {
  return path == "-" ? "standard input" : path.substr(path.find_last_of('/') + 1);
}

Exit run(const CalibrateFlags& flags) {
  solver::RunFacts facts;
  facts.collective = flags.collective;
  facts.ring = flags.ring;
  auto chips = parse_chips("--chips", flags.chips);
  if (!chips) return complain(chips.error(), Exit::usage);
  facts.chips = *std::move(chips);
  if (flags.files.size() > kMaxLogs) {
    return complain("at most " + std::to_string(kMaxLogs) + " logs at a time", Exit::usage);
  }
  if (std::count(flags.files.begin(), flags.files.end(), "-") > 1)
    return complain("FILE: standard input (-) can be given only once", Exit::usage);
  std::vector<ParsedLog> logs;
  for (const std::string& file : flags.files) {
    auto content = read_input(file, codec::kMaxCollectiveLogBytes);
    if (!content) return complain_of_reading(content.error());
    auto log = parse_log(flags.format, {file_name(file), *std::move(content)});
    if (!log) return complain(log.error(), Exit::unreadable);
    logs.push_back(*std::move(log));
  }
  std::string machine = flags.machine;
  if (machine.empty()) {
    auto found = machine_of(logs);
    if (!found) return complain(found.error(), Exit::usage);
    machine = *std::move(found);
    remark("machine: " + machine);
  }
  const auto imported = load_machine_input(machine);
  if (!imported) return complain_of_reading(imported.error());
  for (const std::string& warning : imported->warnings) warn(warning);
  auto overlay = calibrate(logs, imported->topology, file_name(machine), facts);
  if (!overlay) {
    const std::string reasons = overlay.error().text();
    for (const std::string_view reason : split(reasons, '\n')) complain(reason);
    return Exit::findings;
  }
  overlay->made_by = "chipweave " CHIPWEAVE_VERSION;
  const std::string text = codec::write_overlay(*overlay);
  if (overlay->points.size() > codec::kMaxOverlayPoints || text.size() > codec::kMaxOverlayBytes) {
    return complain(
        "the overlay would be larger than its readers accept: give fewer logs at a time",
        Exit::findings);
  }
  if (!flags.out.empty()) {
    if (auto written = io::write_file_atomically(flags.out, text); !written)
      return complain(written.error(), Exit::unreadable);
  }
  return printed(flags.form == OutputForm::json ? text
                                                : render_calibration(*overlay, colour_wanted()));
}

}  // namespace

void register_calibrate(CLI::App& app, Exit& exit_code) {
  CLI::App* calibrate = app.add_subcommand(
      "calibrate", "fit a machine's constants to the logs of a benchmark, as a profile overlay");
  calibrate->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, LogFormat format, const char* examples) {
    auto flags = std::make_shared<CalibrateFlags>();
    flags->format = format;
    CLI::App* command = calibrate->add_subcommand(name, what);
    add_value(*command, "FILE", "…", flags->files, "logs of runs on one machine; -: stdin")
        ->required();
    add_value(*command, "--machine", "PROFILE|FILE", flags->machine,
              "the machine of the runs; default: the one profile with the log's devices");
    add_value(*command, "--chips", "CHIPS", flags->chips,
              "chips that took part, e.g. 0,1,4 or 0-7, where the logs do not tell");
    add_value(*command, "--collective", "NAME", flags->collective,
              "all_reduce, all_gather or reduce_scatter, where the logs do not tell")
        ->check(CLI::IsMember({"all_reduce", "all_gather", "reduce_scatter"}));
    if (format != LogFormat::hccl_test) {
      command->add_flag("--ring", flags->ring,
                        "the runs were restricted to rings (NCCL_ALGO=Ring)");
    }
    add_value(*command, "--out", "FILE", flags->out, "write the overlay to this file");
    add_output_option(*command, flags->form);
    add_examples(*command, examples);
    command->callback([flags, &exit_code] { exit_code = run(*flags); });
  };
  add("nccl-tests", "logs of nccl-tests (all_reduce_perf and others)", LogFormat::nccl_tests,
      "  all_reduce_perf -b 128M -e 8G -f 2 -g 8 > a100.log\n"
      "  chipweave calibrate nccl-tests a100.log --machine hgx-a100-8 --out a100.json\n"
      "  chipweave place --machine hgx-a100-8 --size 4 --overlay a100.json");
  add("rccl-tests", "logs of rccl-tests (all_reduce_perf and others)", LogFormat::rccl_tests,
      "  all_reduce_perf -b 128M -e 8G -f 2 -g 8 > mi300x.log\n"
      "  chipweave calibrate rccl-tests mi300x.log --out mi300x.json");
  add("hccl-test", "logs of hccl_test (all_reduce_test and others)", LogFormat::hccl_test,
      "  mpirun -n 8 ./bin/all_reduce_test -p 8 -b 128M -e 4G -f 2 > 910b.log\n"
      "  chipweave calibrate hccl-test 910b.log --machine ascend-910b-8 --out 910b.json \\\n"
      "    --collective all_reduce --chips 0-7");
}

}  // namespace chipweave::cli
