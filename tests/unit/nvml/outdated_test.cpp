// A driver container that restarts: its folder vanishes, or another one comes in its place.
#include "node-agent/probes/nvidia/nvidia_probe.hpp"

#include <filesystem>

#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

class OutdatedProbe : public FakeDriver {
 protected:
  // Another file each time, with the same content.
  void put() const {
    std::filesystem::copy_file(current(), folder_.at("new"));
    std::filesystem::rename(folder_.at("new"), library());
  }
  std::string library() const { return folder_.at("root/libreplaced.so.1"); }
};

TEST_F(OutdatedProbe, WhenItsLibraryInTheDriverRootIsAnotherFileOrGone) {
  std::filesystem::create_directory(folder_.at("root"));
  put();
  NvidiaProbe probe({"libreplaced.so.1", folder_.at("root")});
  EXPECT_FALSE(probe.outdated());
  play(pcie_pair());
  ASSERT_TRUE(probe.discover());
  EXPECT_FALSE(probe.outdated());
  put();
  EXPECT_TRUE(probe.outdated());
  std::filesystem::remove(library());
  EXPECT_TRUE(probe.outdated());
}

// It may stay loaded although it did not start: the loader would give it for the new one.
TEST_F(OutdatedProbe, AlsoWhenTheDriverWasUnloadedBefore) {
  std::filesystem::create_directory(folder_.at("root"));
  put();
  NvidiaProbe probe({"libreplaced.so.1", folder_.at("root")});
  Json machine = pcie_pair();
  machine["errors"]["nvmlInitWithFlags"] = nvml::kDriverNotLoaded;
  play(machine);
  ASSERT_FALSE(probe.discover());
  EXPECT_FALSE(probe.outdated());
  put();
  EXPECT_TRUE(probe.outdated());
}

TEST_F(OutdatedProbe, NotForALibraryFromElsewhere) {
  std::filesystem::create_directory(folder_.at("root"));
  put();
  NvidiaProbe probe({library(), folder_.at("another-root")});
  play(pcie_pair());
  ASSERT_TRUE(probe.discover());
  put();
  EXPECT_FALSE(probe.outdated());
}

}  // namespace
}  // namespace chipweave::agent
