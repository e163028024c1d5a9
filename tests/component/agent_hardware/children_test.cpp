// What a killed probe process leaves behind: nothing.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/component/agent_hardware/rig.hpp"
#include "tests/unit/dcmi/machines.hpp"

namespace chipweave {
namespace {

std::vector<int> numbers_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<int> out;
  for (int one = 0; file >> one;) out.push_back(one);
  return out;
}

// Zombies among the children of that process.
int zombies_of(int parent) {
  int out = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    const std::string rest = line.substr(line.rfind(')') + 1);
    if (rest.starts_with(" Z " + std::to_string(parent) + " ")) ++out;
  }
  return out;
}

TEST(Children, AKilledProbeLeavesNoToolAndNoZombie) {
  const Rig rig;
  const io::TempFolder& folder = rig.folder();
  const std::string pids = folder.at("pids");
  const std::string tool =
      folder.put("bin/hccn_tool", "#!/bin/sh\necho $$ >>" + pids + "\nexec sleep 1000\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  std::vector<std::string> words = rig.agent_words("n1");
  // The machine of the fake DCMI instead; hccn_tool is not called in a made-up file system.
  const auto probe = std::find(words.begin(), words.end(), "--probe");
  const auto scheduler = std::find(words.begin(), words.end(), "--scheduler");
  words.insert(words.erase(probe, scheduler),
               {"--probe", "ascend", "--dcmi-library", CHIPWEAVE_FAKE_DCMI_CURRENT});
  const Program program(
      words,
      {{"PATH", folder.at("bin") + ":" + std::getenv("PATH")},
       {"CHIPWEAVE_FAKE_DCMI", folder.put("dcmi.json", agent::atlas_910a().dump())}},
      folder.at("agent.log"));

  ASSERT_TRUE(eventually([&] { return !numbers_in(pids).empty(); })) << program.log();
  const int running = numbers_in(pids).front();
  ASSERT_EQ(::kill(running, 0), 0);
  const auto probes = program.children("chipweave-agent-probe");
  ASSERT_EQ(probes.size(), 1U) << program.log();
  ::kill(probes.front(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return ::kill(running, 0) != 0; })) << "hccn_tool, or its zombie";
  EXPECT_TRUE(eventually([&] { return numbers_in(pids).size() > 1; })) << "the next probe's";
  EXPECT_EQ(zombies_of(program.pid()), 0);
}

}  // namespace
}  // namespace chipweave
