#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"

#include <gmock/gmock.h>

#include <chrono>

#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class NvmlLibraryTest : public FakeDriver {};

TEST_F(NvmlLibraryTest, AbsentLibraryIsNoDriver) {
  const auto library = NvmlLibrary::open(folder_.at("libnvidia-ml.so.1"));
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, Errc::not_found);
  EXPECT_THAT(library.error().message, HasSubstr("no NVIDIA driver here"));
  // It is not on the loader's search path either.
  const auto named = NvmlLibrary::open("libchipweave-has-no-such.so.1");
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(named.error().code, Errc::not_found);
}

TEST_F(NvmlLibraryTest, AFileThatIsNoLibraryIsAProblem) {
  const auto library = NvmlLibrary::open(
      folder_.put("libnvidia-ml.so.1", "what an unfinished installation left behind\n"));
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, Errc::unavailable);
}

TEST_F(NvmlLibraryTest, DriverThatDoesNotStartNamesTheRemedy) {
  Json machine = pcie_pair();
  machine["errors"]["nvmlInitWithFlags"] = nvml::kLibraryMismatch;
  const auto snapshot = read(machine);
  ASSERT_FALSE(snapshot.ok());
  EXPECT_EQ(snapshot.error().code, Errc::unavailable);
  EXPECT_THAT(snapshot.error().message, HasSubstr("Driver/library version mismatch (18)"));
  EXPECT_THAT(snapshot.error().message, HasSubstr("reload the module or reboot"));
}

TEST_F(NvmlLibraryTest, CurrentDriverLacksNothing) {
  play(pcie_pair());
  const auto library = NvmlLibrary::open(current());
  ASSERT_TRUE(library.ok()) << library.error().text();
  EXPECT_THAT(library->missing(), IsEmpty());
  EXPECT_STREQ(library->functions().pci_info.name, "nvmlDeviceGetPciInfo_v3");
  EXPECT_EQ(library->text_of(nvml::kGpuIsLost), "GPU is lost (15)");
  EXPECT_EQ(library->text_of(-7), "NVML error -7");
}

TEST_F(NvmlLibraryTest, OldDriverFallsBackAndAnswersFunctionNotFound) {
  play(pcie_pair());
  const auto library = NvmlLibrary::open(old());
  ASSERT_TRUE(library.ok()) << library.error().text();
  EXPECT_STREQ(library->functions().count.name, "nvmlDeviceGetCount");
  EXPECT_STREQ(library->functions().pci_info.name, "nvmlDeviceGetPciInfo_v2");
  EXPECT_THAT(library->missing(), Contains("nvmlDeviceGetMigMode"));
  EXPECT_THAT(library->missing(), Not(Contains("nvmlDeviceGetCount_v2")));
  unsigned now = 0;
  unsigned pending = 0;
  EXPECT_EQ(library->functions().mig_mode(nullptr, &now, &pending), nvml::kFunctionNotFound);
}

TEST_F(NvmlLibraryTest, TextsEndWithTheirBufferAndArePrintable) {
  EXPECT_EQ(nvml_text("ab\0cd", 5), "ab");
  EXPECT_EQ(nvml_text("abcd", 2), "ab");
  EXPECT_EQ(nvml_text("a\nb\x80", 4), "a?b?");
}

// The two ways in which a driver can take down its caller; the process around the reader must
// contain them.
TEST_F(NvmlLibraryTest, FakeCrashesAndHangsOnTheCallNamed) {
  Json machine = pcie_pair();
  machine["crash"] = "nvmlDeviceGetName";
  EXPECT_DEATH((void)read(machine), "");
  machine = pcie_pair();
  machine["hang"]["nvmlSystemGetDriverVersion"] = 1;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(read(machine).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(900));
}

}  // namespace
}  // namespace chipweave::agent
