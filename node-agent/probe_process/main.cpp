// chipweave-agent-probe: reads the hardware for chipweave-agent, which starts it and reads its
// output. A process of its own, because drivers and their libraries hang and crash.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/io/descriptor.hpp"
#include "node-agent/probe_process/hardware_probe.hpp"
#include "node-agent/probe_process/probe_loop.hpp"

namespace {

using namespace chipweave;  // NOLINT(google-build-using-namespace): this is the program

// Lines go to a descriptor of their own, since libraries may print to standard output.
int own_output() {
  const int out = ::dup(STDOUT_FILENO);
  if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  return out;
}

// Dies with the agent, however that ends, and leaves no core files when a driver crashes.
void set_limits() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(SIGPIPE, SIG_IGN);
}

// For the agent this process goes on; nothing of the old driver, such as its open devices, is left.
int start_again(int out, char** argv) {
  ::dup2(out, STDOUT_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::execv("/proc/self/exe", argv);
  std::perror("chipweave-agent-probe: cannot start itself again");
  return 1;
}

int run(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments.front() == "--help") {
    std::puts(
        "chipweave-agent-probe reads the hardware for chipweave-agent, which starts it.\n"
        "Started by hand, it prints one JSON object per line until it is stopped:\n"
        "  chipweave-agent-probe --vendor nvidia | head -1");
    return 0;
  }
  const auto options = codec::hardware_options(arguments);
  if (!options) {
    std::fprintf(stderr, "chipweave-agent-probe: %s\n", options.error().text().c_str());
    return 2;
  }
  const int out = own_output();
  if (out < 0) return 1;
  set_limits();
  auto probe = agent::make_hardware_probe(*options);
  const SystemClock clock;
  agent::ProbeLoopOptions loop;
  loop.sample_every = codec::metrics_interval_of(*options);
  agent::run_probe_loop(*probe, clock, loop,
                        [out](const std::string& line) { return io::write_all(out, line); });
  if (!probe->outdated()) return 0;
  probe.reset();
  return start_again(out, argv);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "chipweave-agent-probe: %s\n", e.what());
    return 1;
  }
}
