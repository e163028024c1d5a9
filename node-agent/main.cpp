// chipweave-agent: one node's accelerators, their links and their health, reported to the
// scheduler.
#include <cstdio>
#include <exception>

#include "node-agent/flags.hpp"
#include "node-agent/program.hpp"

int main(int argc, char** argv) {
  try {
    const chipweave::agent::Parsed parsed = chipweave::agent::parse_flags(argc, argv);
    return parsed.flags ? chipweave::agent::run_agent(*parsed.flags) : parsed.exit_code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "chipweave-agent: %s\n", e.what());
    return 1;
  }
}
