// Sysfs files that disappear and return while they are read: each read gets the current state or an
// error, and chips keep their numbers.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "node-agent/app/machine/continuity.hpp"
#include "node-agent/probe_process/hardware_probe.hpp"
#include "tests/fakes/agent/amd_folder.hpp"
#include "tests/fakes/agent/vanishing_files.hpp"

namespace chipweave::agent {
namespace {

constexpr int kLooks = 300;

// Repeatedly removes and restores each path of the machine.
class Churn {
 public:
  explicit Churn(const VanishingFiles& files)
      : thread_([this, &files] {
          while (!stop_) {
            for (const std::string& path : files.paths()) {
              if (stop_) return;
              files.take(path);
              std::this_thread::yield();
              files.put_back();
            }
          }
        }) {}
  ~Churn() {
    stop_ = true;
    thread_.join();
  }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

codec::HardwareOptions options_of(const std::string& vendor, const std::string& root) {
  codec::HardwareOptions out;
  out.vendor = vendor;
  out.sysfs_root = root;
  return out;
}

void expect_same_chips(const domain::NodeTopology& a, const domain::NodeTopology& b) {
  ASSERT_EQ(a.chip_count(), b.chip_count());
  for (int slot = 0; slot < a.chip_count(); ++slot) {
    EXPECT_EQ(a.chip(slot).index, b.chip(slot).index);
    EXPECT_EQ(a.chip(slot).pci, b.chip(slot).pci);
    EXPECT_EQ(a.chip(slot).id, b.chip(slot).id);
  }
}

void look_while_it_vanishes(const SysFolder& machine, const std::string& vendor) {
  const auto probe = make_hardware_probe(options_of(vendor, machine.root()));
  const auto first = probe->discover();
  ASSERT_TRUE(first.ok()) << first.error().text();
  domain::NodeTopology known = first->topology;
  const VanishingFiles files(machine);
  {
    const Churn churn(files);
    for (int i = 0; i < kLooks; ++i) {
      probe->changes();
      auto seen = probe->discover();
      if (!seen) continue;
      auto now = in_terms_of(known, std::move(seen).value());
      ASSERT_TRUE(now.ok()) << now.error().text();
      expect_same_chips(now->observation.topology, first->topology);
      known = std::move(now->observation.topology);
    }
  }
  files.put_back();
  const auto last = probe->discover();
  ASSERT_TRUE(last.ok()) << last.error().text();
  expect_same_chips(last->topology, first->topology);
  EXPECT_EQ(last->topology.links().size(), first->topology.links().size());
  EXPECT_EQ(last->topology.nics().size(), first->topology.nics().size());
  EXPECT_EQ(last->signals.size(), first->signals.size());
  EXPECT_EQ(last->facts, first->facts);
  EXPECT_EQ(last->warnings, first->warnings);
  EXPECT_FALSE(probe->changes());
}

TEST(VanishingFiles, OfAnAmdMachine) {
  const PairOfMi300x machine;
  for (const std::string& pci : {PairOfMi300x::kFirst, PairOfMi300x::kSecond}) {
    machine.ras(pci, "umc", "ue: 0\nce: 1\n");
    machine.write(AmdFolder::bus(pci) + "/hwmon/hwmon3/temp1_input", "41000\n");
    machine.write(AmdFolder::bus(pci) + "/hwmon/hwmon3/temp1_crit", "100000\n");
    machine.write(AmdFolder::bus(pci) + "/current_compute_partition", "SPX\n");
  }
  machine.nic("pci0000:10/0000:10:02.0/0000:12:00.0", "mlx5_0", "eth0", 2, 0);
  look_while_it_vanishes(machine, "amd");
}

TEST(VanishingFiles, OfTheBus) {
  const SysFolder machine;
  for (const std::string bus : {"11", "12", "81", "82"}) {
    const bool near = bus[0] == '1';
    machine.device(
        (near ? "pci0000:10/0000:10:01.0/0000:" : "pci0000:80/0000:80:01.0/0000:") + bus + ":00.0",
        "0x030200", "0x10de", "0x20b0", near ? 0 : 1);
  }
  machine.nic("pci0000:10/0000:10:02.0/0000:13:00.0", "mlx5_0", "eth0", 2, 0);
  look_while_it_vanishes(machine, "pci");
}

}  // namespace
}  // namespace chipweave::agent
