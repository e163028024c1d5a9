#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/io/files.hpp"
#include "common/io/machine_content.hpp"
#include "common/profiles/profiles.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LoadMachine, EveryProfileByName) {
  for (const profiles::Profile& p : profiles::all()) {
    const auto machine = load_machine(std::string(p.name));
    ASSERT_TRUE(machine.ok()) << machine.error().text();
    EXPECT_EQ(machine->format, "chipweave-json");
  }
}

TEST(LoadMachine, AFileByContent) {
  const TempFolder tmp;
  const std::string path =
      tmp.put("m.txt", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-3\nGPU1\tNV4\t X \t0-3\n");
  const auto machine = load_machine(path, {"H100"});
  ASSERT_TRUE(machine.ok()) << machine.error().text();
  EXPECT_EQ(machine->format, "nvidia-smi");
  EXPECT_EQ(machine->topology.link(0, 1)->gbps(), 4 * 20.6);
}

TEST(LoadMachine, UnknownNameOffersNearOnes) {
  const auto machine = load_machine("hgx-h100-9");
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().code, Errc::not_found);
  EXPECT_THAT(machine.error().text(),
              AllOf(HasSubstr("\"hgx-h100-8\""), HasSubstr("`chipweave profiles`")));
  EXPECT_EQ(load_machine("").error().code, Errc::not_found);
}

TEST(LoadMachine, OtherNamesAreThoseOfOneProfile) {
  const auto machine = load_machine("DGX_A100");
  ASSERT_TRUE(machine.ok()) << machine.error().text();
  EXPECT_EQ(codec::export_topology_json(machine->topology),
            codec::export_topology_json(load_machine("hgx-a100-8")->topology));
  EXPECT_EQ(load_machine("v100").error().text(),
            "\"v100\" is one of several machines: hgx-v100-8, dgx2-v100-16; name one of them");
}

TEST(LoadMachine, ContentIsReadAsAFileIs) {
  const std::string matrix = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n";
  const auto machine = machine_in_content(matrix, "standard input", {"H100"});
  ASSERT_TRUE(machine.ok()) << machine.error().text();
  EXPECT_EQ(machine->format, "nvidia-smi");
  EXPECT_THAT(machine_in_content("x", "standard input").error().text(),
              HasSubstr("standard input: unknown format"));
}

TEST(LoadMachine, ErrorsNameTheFile) {
  const TempFolder tmp;
  const std::string path = tmp.put("bad.json", "{\"chips\":2,\"lnks\":[]}");
  EXPECT_THAT(load_machine(path).error().text(),
              AllOf(HasSubstr(path), HasSubstr("did you mean \"links\"")));
}

TEST(LoadMachine, HundredMegabytesAreNotRead) {
  const TempFolder tmp;
  const std::string path = tmp.put("big.json", "{");
  std::filesystem::resize_file(path, 100U << 20U);
  EXPECT_EQ(load_machine(path).error().code, Errc::limit_exceeded);
}

TEST(LoadMachine, AFolderThatIsNoTreeIsSaidToBeNoneBeforeItsFilesAreRead) {
  const TempFolder tmp;
  std::filesystem::resize_file(tmp.put("large", "x"), 100U << 20U);
  EXPECT_THAT(load_machine(tmp.path()).error().text(),
              AllOf(HasSubstr("not a machine description"), HasSubstr("nodes/<n>/properties")));
}

TEST(LoadMachine, AFolderWithoutATreeIsAnError) {
  const TempFolder tmp;
  tmp.put("readme", "nothing");
  EXPECT_THAT(load_machine(tmp.path()).error().text(), HasSubstr(tmp.path()));
}

}  // namespace
}  // namespace chipweave::io
