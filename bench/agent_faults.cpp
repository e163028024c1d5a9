// The time from a hardware fault to a decision that takes it into account, and the agent's cost
// meanwhile.
//
// A scheduler without a cluster, an agent with its probe process, and a driver that follows a
// scenario file (tests/fakes/nvml). A link of a DGX-1V goes down and up, and one of its chips has
// an XID; each time is measured until a pod gets other chips or none, by filter, prioritize and
// bind over HTTP. Then the memory and processor time of agent and probe process on an idle machine
// of 16 chips, on one that is measured every 10 s and scraped every 15 s and, with --soak, on one
// with constant events.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "tests/component/agent_hardware/rig.hpp"
#include "tests/unit/nvml/scenarios.hpp"

namespace {

using chipweave::eventually;
using chipweave::Program;
using chipweave::Rig;
using Json = nlohmann::json;
using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

void set_link(Json& machine, std::size_t of, int to, bool up) {
  for (Json& link : machine["devices"][of]["links"]) {
    if (link["remote"] == chipweave::agent::bus_of(to)) link["state"] = up ? 1 : 0;
  }
}

double percentile(std::vector<double> values, double of) {
  std::sort(values.begin(), values.end());
  const double at = of * static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(std::lround(at))];
}

void print_times(const char* what, const std::vector<double>& ms) {
  std::printf("%-42s n=%zu  min %.0f  median %.0f  p99 %.0f  max %.0f ms\n", what, ms.size(),
              percentile(ms, 0), percentile(ms, 0.5), percentile(ms, 0.99), percentile(ms, 1));
}

// False if the machine does not appear in time.
bool measure_links(int samples) {
  Rig rig;
  Json machine = chipweave::agent::dgx1v();
  rig.play(machine);
  const auto agent = rig.agent("n1", {"--health-policy", rig.policy_without_holds()});
  const std::vector<int> best = {0, 3};
  if (!eventually([&] { return rig.decide("n1", 2) == best; })) return false;
  std::vector<double> down;
  std::vector<double> up;
  for (int i = 0; i < samples; ++i) {
    for (const bool now_up : {false, true}) {
      // Not in phase with the agent's polling.
      std::this_thread::sleep_for(milliseconds(37 * (i % 23)));
      set_link(machine, 0, 3, now_up);
      set_link(machine, 3, 0, now_up);
      const auto begin = Steady::now();
      rig.play(machine);
      if (!eventually([&] { return (rig.decide("n1", 2) == best) == now_up; })) return false;
      (now_up ? up : down)
          .push_back(std::chrono::duration<double, std::milli>(Steady::now() - begin).count());
    }
  }
  print_times("link down to other chips for a pod", down);
  print_times("link up again to the best chips", up);
  return true;
}

// False if the machine does not appear in time. A pod with all chips fits as long as each of them
// is usable; the policy makes a chip usable again a second after its XID.
bool measure_xids(int samples) {
  Rig rig;
  Json machine = chipweave::agent::dgx1v();
  rig.play(machine);
  const auto agent = rig.agent("n1", {"--health-policy", rig.policy_without_holds()});
  const auto all_usable = [&] { return rig.decide("n1", 8).has_value(); };
  if (!eventually(all_usable)) return false;
  std::vector<double> taken;
  for (int i = 0; i < samples; ++i) {
    // Not in phase with the agent's polling.
    std::this_thread::sleep_for(milliseconds(37 * (i % 23)));
    machine["events"] = {{{"device", i % 8}, {"type", 8}, {"data", 79}}};
    const auto begin = Steady::now();
    rig.play(machine);
    if (!eventually([&] { return !all_usable(); })) return false;
    taken.push_back(std::chrono::duration<double, std::milli>(Steady::now() - begin).count());
    if (!eventually(all_usable)) return false;
  }
  print_times("XID to no place for a pod of all chips", taken);
  return true;
}

// Sixteen chips with 18 links to switches each, like a DGX-2 or two HGX boards.
Json sixteen() {
  Json machine = chipweave::agent::hgx_h100();
  for (int i = 0; i < 8; ++i) {
    Json gpu = machine["devices"][static_cast<std::size_t>(i)];
    gpu["uuid"] = "GPU-" + std::to_string(8 + i);
    gpu["bus"] = "00000000:2" + std::to_string(i) + ":00.0";
    gpu["minor"] = 8 + i;
    machine["devices"].push_back(std::move(gpu));
  }
  machine["levels"] = Json::array();
  return machine;
}

struct Cost {
  double agent = 0;
  double probe = 0;
};

Cost cpu_of(const Program& agent) {
  Cost out{agent.cpu_seconds(), 0};
  for (const int probe : agent.children("chipweave-agent-probe")) {
    out.probe += chipweave::cpu_seconds_of(probe);
  }
  return out;
}

void print_memory(const Program& agent, const char* when) {
  long probe = 0;
  long probe_own = 0;
  for (const int pid : agent.children("chipweave-agent-probe")) {
    probe += chipweave::kilobytes_of(pid, "VmRSS");
    probe_own += chipweave::kilobytes_of(pid, "RssAnon");
  }
  std::printf("%-42s agent %.1f MiB (own %.1f), probe %.1f MiB (own %.1f)\n", when,
              static_cast<double>(agent.kilobytes("VmRSS")) / 1024,
              static_cast<double>(agent.kilobytes("RssAnon")) / 1024,
              static_cast<double>(probe) / 1024, static_cast<double>(probe_own) / 1024);
}

void print_cpu(const char* what, const Cost& before, const Cost& after, double seconds) {
  std::printf("%-42s agent %.2f %%, probe %.2f %% of a core\n", what,
              100 * (after.agent - before.agent) / seconds,
              100 * (after.probe - before.probe) / seconds);
}

bool measure_idle(int chips, int seconds) {
  Rig rig;
  rig.play(chips == 8 ? chipweave::agent::hgx_h100() : sixteen());
  const auto agent = rig.agent("n1");
  if (!eventually([&] { return !rig.node("n1").is_null(); })) return false;
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const Cost before = cpu_of(*agent);
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const std::string name = std::to_string(chips) + " chips, nothing happens";
  print_cpu(name.c_str(), before, cpu_of(*agent), seconds);
  print_memory(*agent, name.c_str());
  return true;
}

// Everything on: measurements every 10 s, as by default, and a scrape every 15 s. False also if one
// of the limits is exceeded.
bool measure_metrics(int seconds) {
  constexpr double kMaxMebibytes = 35;
  constexpr double kMaxShare = 0.01;  // of a core
  constexpr std::chrono::seconds kScrape{15};
  Rig rig;
  Json machine = sixteen();
  chipweave::agent::measure(machine);
  rig.play(machine);
  const auto agent = rig.agent("n1", Rig::metrics(rig.folder()));
  const auto measured = [&rig] {
    return rig.metrics_page().find("chipweave_chip_link_peak") != std::string::npos;
  };
  if (!eventually(measured)) return false;
  const Cost before = cpu_of(*agent);
  const auto begin = Steady::now();
  std::size_t series = 0;
  while (Steady::now() - begin < std::chrono::seconds(seconds)) {
    const std::string page = rig.metrics_page();
    std::size_t at = 0;
    for (series = 0; (at = page.find("\nchipweave_chip_", at)) != std::string::npos; ++at) ++series;
    std::this_thread::sleep_for(kScrape);
  }
  const double took = std::chrono::duration<double>(Steady::now() - begin).count();
  const Cost after = cpu_of(*agent);
  print_cpu("16 chips, measured and scraped", before, after, took);
  print_memory(*agent, "16 chips, measured and scraped");
  double mebibytes = static_cast<double>(agent->kilobytes("VmRSS")) / 1024;
  for (const int pid : agent->children("chipweave-agent-probe")) {
    mebibytes += static_cast<double>(chipweave::kilobytes_of(pid, "VmRSS")) / 1024;
  }
  const double share = (after.agent - before.agent + after.probe - before.probe) / took;
  std::printf("%-42s %zu series of chips, together %.1f MiB and %.2f %% of a core\n", "", series,
              mebibytes, 100 * share);
  const bool within = mebibytes <= kMaxMebibytes && share <= kMaxShare;
  if (!within) std::fprintf(stderr, "limits: %.0f MiB, %.0f %%\n", kMaxMebibytes, 100 * kMaxShare);
  return within;
}

// Events and links of all chips, as fast as the scenario file can be written.
bool soak(int seconds, int per_second) {
  Rig rig;
  Json machine = sixteen();
  rig.play(machine);
  const auto agent = rig.agent("n1");
  if (!eventually([&] { return !rig.node("n1").is_null(); })) return false;
  const auto begin = Steady::now();
  const Cost before = cpu_of(*agent);
  long played = 0;
  auto next_print = begin + std::chrono::seconds(std::max(1, seconds / 5));
  while (Steady::now() - begin < std::chrono::seconds(seconds)) {
    Json events = Json::array();
    for (int i = 0; i < per_second / 10; ++i) {
      events.push_back(
          {{"device", (played + i) % 16}, {"type", 8}, {"data", 13 + (played + i) % 140}});
    }
    machine["events"] = std::move(events);
    const auto device = static_cast<std::size_t>(played % 16);
    const auto link = static_cast<std::size_t>(played / 16 % 18);
    Json& flipped = machine["devices"][device]["links"][link];
    flipped["field_state"] = flipped["field_state"] == 1 ? 0 : 1;
    flipped["field_crc"] = played * 1000;
    rig.play(machine);
    ++played;
    std::this_thread::sleep_until(begin + milliseconds(100) * played);
    if (Steady::now() < next_print) continue;
    next_print += std::chrono::seconds(std::max(1, seconds / 5));
    print_memory(*agent, "soak, memory");
  }
  print_cpu("soak, processor", before, cpu_of(*agent), seconds);
  std::printf("soak: %ld scenarios of %d events in %d s; probe processes now: %zu\n", played,
              per_second / 10, seconds, agent->children("chipweave-agent-probe").size());
  return agent->terminate() == 0;
}

}  // namespace

int main(int argc, char** argv) {
  int samples = 100;
  int idle = 20;
  int metrics = 60;
  int soak_seconds = 0;
  int events = 100;
  CLI::App app("From a fault of the hardware to the decision that knows it.");
  app.add_option("--samples", samples, "times that a link goes down, and XIDs; 0: none");
  app.add_option("--idle", idle, "seconds to watch a machine at which nothing happens; 0: none");
  app.add_option("--metrics", metrics,
                 "seconds to watch a machine that is measured and scraped; 0: none");
  app.add_option("--soak", soak_seconds, "seconds of events without a pause; default none");
  app.add_option("--events", events, "events a second of the soak");
  CLI11_PARSE(app, argc, argv);
  bool good = true;
  if (samples > 0) good = measure_links(samples) && measure_xids(samples) && good;
  if (idle > 0) good = measure_idle(8, idle) && measure_idle(16, idle) && good;
  if (metrics > 0) good = measure_metrics(metrics) && good;
  if (soak_seconds > 0) good = soak(soak_seconds, events) && good;
  if (!good) std::fprintf(stderr, "not in time or beyond a limit\n");
  return good ? 0 : 1;
}
