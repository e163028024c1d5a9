// chipweave-device-plugin: gives containers the chips that the scheduler has chosen for them.
#include <cstdio>
#include <exception>

#include "node-agent/device_plugin/flags.hpp"
#include "node-agent/device_plugin/program.hpp"

int main(int argc, char** argv) {
  try {
    const auto parsed = chipweave::device_plugin::parse_flags(argc, argv);
    return parsed.flags ? chipweave::device_plugin::run_device_plugin(*parsed.flags)
                        : parsed.exit_code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "chipweave-device-plugin: %s\n", e.what());
    return 1;
  }
}
