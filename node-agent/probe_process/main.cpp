// chipweave-agent-probe: looks at the hardware for chipweave-agent, which starts it and reads what
// it prints. In a process of its own, because drivers and their libraries hang and crash.
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

// The lines get a descriptor of their own: libraries print to standard output as they like.
int own_output() {
  const int out = ::dup(STDOUT_FILENO);
  if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  return out;
}

// Ends with the agent, whatever ends that, and leaves no core files behind each crash of a driver.
void set_limits() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(SIGPIPE, SIG_IGN);
}

int run(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words.front() == "--help") {
    std::puts(
        "chipweave-agent-probe looks at the hardware for chipweave-agent, which starts it.\n"
        "By hand it prints what it sees, a JSON object a line, until it is ended:\n"
        "  chipweave-agent-probe --vendor nvidia | head -1");
    return 0;
  }
  const auto options = codec::hardware_options(words);
  if (!options) {
    std::fprintf(stderr, "chipweave-agent-probe: %s\n", options.error().text().c_str());
    return 2;
  }
  const int out = own_output();
  if (out < 0) return 1;
  set_limits();
  const auto probe = agent::make_hardware_probe(*options);
  const SystemClock clock;
  agent::run_probe_loop(*probe, clock, {},
                        [out](const std::string& line) { return io::write_all(out, line); });
  return 0;
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
