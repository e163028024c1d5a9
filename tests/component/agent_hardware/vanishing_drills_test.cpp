// Parts of sysfs disappear and return while the agent runs: single files, whole devices,
// everything. The agent keeps running, chips keep their numbers, a missing part is a fault, and a
// returned one is as before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/component/agent_hardware/rig.hpp"
#include "tests/fakes/agent/amd_folder.hpp"
#include "tests/fakes/agent/vanishing_files.hpp"

namespace chipweave {
namespace {

using agent::AmdFolder;
using agent::PairOfMi300x;
using agent::VanishingFiles;
using Json = nlohmann::json;

// No fault is held and no rise is remembered, so that recovery is visible at once.
constexpr const char* kPolicy =
    "links: {hold: 0s, flap-window: 0s, longest-hold: 0s}\n"
    "rules:\n"
    "- {code: amd.gone, effect: unusable, hold: 0s}\n"
    "- {code: chip.gone, effect: unusable, hold: 0s}\n"
    "- {code: machine.gone, effect: unusable, after: 0s, hold: 0s}\n"
    "- {code: nic.down, effect: link, hold: 0s}\n"
    "- {code: \"*\", effect: note, hold: 0s, window: 1s}\n";

struct VanishingDrills : testing::Test {
  Rig rig;
  std::unique_ptr<Program> program;
  Json whole;  // the node with all files present

  Json node() { return rig.timeless_node("n1"); }
  void begin(const agent::SysFolder& machine, const std::string& vendor) {
    auto more = Rig::metrics(rig.folder());
    more.insert(more.end(), {"--health-policy", rig.folder().put("policy.yaml", kPolicy)});
    auto words = rig.agent_words("n1", more);
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i - 1] == "--probe") words[i] = vendor;
      if (words[i - 1] == "--sysfs-root") words[i] = machine.root();
    }
    program = std::make_unique<Program>(words, std::map<std::string, std::string>{},
                                        rig.folder().at("agent.log"));
    ASSERT_TRUE(eventually([&] { return !rig.node("n1").is_null(); })) << program->log();
    whole = node();
    ASSERT_EQ(rig.unhealthy("n1"), std::vector<int>{});
  }
  void expect_unhealthy(const std::vector<int>& chips) {
    EXPECT_TRUE(eventually([&] { return rig.unhealthy("n1") == chips; }, kLong))
        << node() << program->log();
    EXPECT_EQ(rig.node("n1")["chips"], whole["chips"]);
  }
  // A failed read is retried with growing delays.
  void expect_whole() {
    EXPECT_TRUE(eventually([&] { return node() == whole; }, kLong)) << node() << program->log();
    EXPECT_EQ(program->children("chipweave-agent-probe").size(), 1U) << program->log();
    for (const char* reason : {"stuck", "crashed", "garbage"}) {
      EXPECT_EQ(
          rig.metric("chipweave_agent_probe_ends_total{reason=\"" + std::string(reason) + "\"}"), 0)
          << program->log();
    }
  }
  // Removes and restores each path while the agent reads; `stir` triggers the read.
  template <class Stir>
  void churn(const VanishingFiles& files, Stir stir) {
    for (int round = 0; round < kRounds; ++round) {
      for (const std::string& path : files.paths()) {
        files.take(path);
        stir();
        std::this_thread::sleep_for(std::chrono::milliseconds(7));
        files.put_back();
        EXPECT_EQ(rig.node("n1")["chips"], whole["chips"]);
      }
      stir();
    }
  }

  static constexpr int kRounds = 3;
  static constexpr auto kLong = std::chrono::seconds(90);
};

struct AmdVanishes : VanishingDrills {
  PairOfMi300x machine;
  int generation = 1;

  AmdVanishes() {
    for (const std::string& pci : {PairOfMi300x::kFirst, PairOfMi300x::kSecond}) {
      machine.ras(pci, "umc", "ue: 0\nce: 0\n");
      machine.write(AmdFolder::bus(pci) + "/hwmon/hwmon3/temp1_input", "41000\n");
    }
    machine.nic("pci0000:10/0000:10:02.0/0000:12:00.0", "mlx5_0", "eth0", 2, 0);
  }
  // As the driver does whenever its topology changes.
  void stir() { machine.generation(++generation); }
};

TEST_F(AmdVanishes, AChipThatFallsOffIsUnusableUntilItIsBack) {
  begin(machine, "amd");
  const VanishingFiles files(machine);
  for (const auto& [folder, chips] : std::vector<std::pair<std::string, std::vector<int>>>{
           {AmdFolder::bus(PairOfMi300x::kSecond), {1}},
           {AmdFolder::nodes() + "2", {0}},
           {AmdFolder::nodes(), {0, 1}},
           {"/sys/bus/pci/devices", {0, 1}},
           {"/sys", {0, 1}}}) {
    files.take(folder);
    if (folder != "/sys") stir();
    expect_unhealthy(chips);
    files.put_back();
    stir();
    expect_unhealthy({});
    expect_whole();
  }
}

TEST_F(AmdVanishes, FilesThatComeAndGoLeaveNothingBehind) {
  begin(machine, "amd");
  const VanishingFiles files(machine);
  churn(files, [&] { stir(); });
  expect_whole();
  stir();
  machine.ras(PairOfMi300x::kFirst, "umc", "ue: 0\nce: 5\n");
  EXPECT_TRUE(eventually([&] {
    return rig.metric("chipweave_agent_faults{code=\"ras.umc.ce\",effect=\"note\"}") == 1;
  })) << program->log();
}

struct BusVanishes : VanishingDrills {
  agent::SysFolder machine;

  BusVanishes() {
    for (const std::string number : {"0", "1", "2", "3"}) {
      machine.device("pci0000:10/0000:10:01.0/0000:1" + number + ":00.0", "0x030200", "0x10de",
                     "0x20b0", 0);
    }
    machine.nic("pci0000:10/0000:10:02.0/0000:15:00.0", "mlx5_0", "eth0", 2, 0);
  }
  static std::string bus(const std::string& number) {
    return "/sys/bus/pci/devices/0000:1" + number + ":00.0";
  }
};

TEST_F(BusVanishes, ChipsKeepTheirNumbers) {
  begin(machine, "pci");
  const VanishingFiles files(machine);
  for (const auto& [folder, chips] :
       std::vector<std::pair<std::string, std::vector<int>>>{{bus("1"), {1}},
                                                             {bus("0"), {0}},
                                                             {"/sys/bus/pci/devices", {0, 1, 2, 3}},
                                                             {"/sys", {0, 1, 2, 3}}}) {
    files.take(folder);
    expect_unhealthy(chips);
    files.put_back();
    expect_unhealthy({});
    expect_whole();
  }
}

TEST_F(BusVanishes, FilesThatComeAndGoLeaveNothingBehind) {
  begin(machine, "pci");
  const VanishingFiles files(machine);
  int changes = 0;
  const std::string seen = "/sys/class/net/eth0/carrier_changes";
  churn(files, [&] {
    if (std::filesystem::exists(machine.root() + seen)) {
      machine.write(seen, std::to_string(++changes) + "\n");
    }
  });
  // The last read may have missed a file that the watch does not compare; the next change of the
  // bus makes it read all of them again.
  files.take(bus("3"));
  expect_unhealthy({3});
  files.put_back();
  expect_whole();
}

}  // namespace
}  // namespace chipweave
