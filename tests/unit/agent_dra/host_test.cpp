// The files and devices of a real machine: folders made for the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "node-agent/dra/claims/driver_files.hpp"
#include "node-agent/dra/dra_options.hpp"
#include "node-agent/sources/host_devices.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent::dra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SystemFiles, MakeFoldersReplaceAndDelete) {
  const io::TempFolder folder;
  SystemFiles files;
  const std::string path = folder.at("plugins/driver/claims.json");
  EXPECT_EQ(files.read(path).error().code, Errc::not_found);
  EXPECT_THAT(files.names(folder.at("plugins/driver")).value(), IsEmpty());
  EXPECT_TRUE(files.remove(path).ok());
  ASSERT_TRUE(files.write(path, "one").ok());
  ASSERT_TRUE(files.write(path, "two").ok());
  EXPECT_EQ(files.read(path).value(), "two");
  EXPECT_THAT(files.names(folder.at("plugins/driver")).value(), ElementsAre("claims.json"));
  EXPECT_TRUE(files.remove(path).ok());
  EXPECT_THAT(files.names(folder.at("plugins/driver")).value(), IsEmpty());
}

TEST(SystemFiles, SayWhatDoesNotWork) {
  const io::TempFolder folder;
  SystemFiles files;
  folder.put("file", "");
  EXPECT_THAT(files.write(folder.at("file/claims.json"), "x").error().text(), HasSubstr("file"));
  EXPECT_FALSE(files.write("/proc/chipweave/claims.json", "x").ok());
  std::filesystem::create_directory(folder.at("folder"));
  EXPECT_THAT(files.remove(folder.at("folder")).error().text(), HasSubstr("cannot delete"));
}

TEST(SystemDevices, AreFoundBelowTheHostsRoot) {
  const io::TempFolder folder;
  folder.put("dev/nvidia0", "");
  folder.put("dev/dri/renderD128", "");
  std::filesystem::create_directories(folder.at("dev/dri/by-path"));
  std::filesystem::create_symlink("../renderD128", folder.at("dev/dri/by-path/pci-x-render"));
  std::filesystem::create_symlink("/dev/nvidia0", folder.at("dev/absolute"));
  std::filesystem::create_symlink("round", folder.at("dev/round"));
  std::filesystem::create_symlink("gone", folder.at("dev/dangling"));
  const SystemDevices host(folder.path());
  EXPECT_EQ(host.node_at("/dev/nvidia0"), "/dev/nvidia0");
  EXPECT_EQ(host.node_at("/dev/dri/by-path/pci-x-render"), "/dev/dri/renderD128");
  EXPECT_EQ(host.node_at("/dev/absolute"), "/dev/nvidia0");
  for (const char* none : {"/dev/nvidia1", "/dev/round", "/dev/dangling"})
    EXPECT_EQ(host.node_at(none), std::nullopt) << none;
}

TEST(SystemDevices, KnowNvidiasMinorsAndPcieRoots) {
  const io::TempFolder folder;
  folder.put("proc/driver/nvidia/gpus/0000:3b:00.0/information",
             "Model: \t\t NVIDIA A100\nDevice Minor: \t 5\nGPU Excluded:\t No\n");
  std::filesystem::create_directories(folder.at("sys/bus/pci/devices"));
  std::filesystem::create_symlink("../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0",
                                  folder.at("sys/bus/pci/devices/0000:3b:00.0"));
  const SystemDevices host(folder.path());
  EXPECT_EQ(host.nvidia_minor("0000:3B:00.0"), 5);
  EXPECT_EQ(host.nvidia_minor("0000:ff:1f.7"), std::nullopt);
  EXPECT_EQ(host.nvidia_minor("../../../etc"), std::nullopt);
  EXPECT_EQ(host.pcie_root("0000:3B:00.0"), "pci0000:3a");
  EXPECT_EQ(host.pcie_root("/../../../.."), "");
}

TEST(SystemDevices, KnowTheNodesOfGraphicsCards) {
  const io::TempFolder folder;
  const std::string drm = "sys/bus/pci/devices/0000:3b:00.0/drm/";
  for (const char* name : {"card1", "renderD129", "controlD65"})
    folder.put(drm + name + "/dev", "");
  const SystemDevices host(folder.path());
  EXPECT_THAT(host.drm_nodes("0000:3B:00.0"),
              testing::UnorderedElementsAre("/dev/dri/card1", "/dev/dri/renderD129"));
  EXPECT_THAT(host.drm_nodes("0000:ff:1f.7"), IsEmpty());
  EXPECT_THAT(host.drm_nodes("/../../../.."), IsEmpty());
}

TEST(DraOptions, NamesAreChecked) {
  EXPECT_TRUE(check_driver_name("gpu.chipweave.dev").ok());
  for (const char* wrong :
       {"", "gpu", "GPU.chipweave.dev", "a/b.c", "gpu.nvidia.com", "gpu.amd.com"})
    EXPECT_FALSE(check_driver_name(wrong).ok()) << wrong;
  EXPECT_FALSE(check_driver_name(std::string(60, 'a') + ".dev").ok());
  EXPECT_TRUE(check_cdi_kind("nvidia.com/gpu").ok());
  for (const char* wrong : {"", "gpu", "nvidia.com/", "/gpu", "a.b/c/d", "a.b/c=d"})
    EXPECT_FALSE(check_cdi_kind(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace chipweave::agent::dra
