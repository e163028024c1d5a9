// Tested on constructed trees: no AMD machine was available.
#include "node-agent/probes/amd/amd_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/domain/topology_builder.hpp"
#include "tests/fakes/agent/amd_folder.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::LinkKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Amd : public testing::Test, public PairOfMi300x {
 protected:
  Amd() : probe_(options()) {}
  AmdOptions options() const {
    AmdOptions out;
    out.root = root();
    out.health_every = 1;
    return out;
  }
  domain::Observation see() {
    auto got = probe_.discover();
    EXPECT_TRUE(got) << got.error().text();
    return got ? std::move(got).value() : domain::Observation{"", *fallback(), {}};
  }
  // "1 amd.gone", "0 ras.umc.ce=3", …
  static std::vector<std::string> list(const domain::Observation& o) {
    std::vector<std::string> out;
    for (const domain::Signal& s : o.signals) {
      std::string line = s.chip ? std::to_string(s.chip->value) + " " + s.code : s.code;
      if (s.value != 0) line += "=" + std::to_string(static_cast<int>(s.value));
      out.push_back(line);
    }
    return out;
  }
  void drop(int node, const std::string& pci) const {
    remove(nodes() + std::to_string(node));
    remove(bus(pci));
    generation(2);
  }

  AmdProbe probe_;

 private:
  static std::optional<domain::NodeTopology> fallback() {
    domain::TopologyBuilder builder;
    builder.add_chip({});
    return std::move(builder).build().value();
  }
};

TEST_F(Amd, GivesChipsLinksAndFacts) {
  write("/sys/module/amdgpu/version", "6.8.5\n");
  for (const std::string& pci : {kFirst, kSecond}) {
    write(bus(pci) + "/current_compute_partition", "SPX\n");
    write(bus(pci) + "/current_memory_partition", "NPS1\n");
  }
  const domain::Observation o = see();
  EXPECT_EQ(o.machine, "MI300X");
  ASSERT_EQ(o.topology.chip_count(), 2);
  EXPECT_EQ(o.topology.chip(0).id, "0x00000000000000a1");
  EXPECT_EQ(o.topology.chip(0).pci, kFirst);
  EXPECT_EQ(o.topology.chip(1).numa, 1);
  EXPECT_EQ(o.topology.chip(0).memory_bytes, std::uint64_t{192} << 30U);
  ASSERT_NE(o.topology.link(0, 1), nullptr);
  EXPECT_EQ(o.topology.link(0, 1)->gbps_per_lane, 48);
  EXPECT_THAT(
      o.facts,
      ElementsAre(std::pair("compute-partition", "SPX"), std::pair("driver", "6.8.5"),
                  std::pair("gfx", "gfx942"), std::pair("memory-partition", "NPS1"),
                  std::pair("render.0", "renderD128"), std::pair("render.1", "renderD129")));
  EXPECT_THAT(o.signals, IsEmpty());
  EXPECT_THAT(o.warnings, IsEmpty());
}

TEST_F(Amd, PackagesThatAreDividedDifferentlyAreMixed) {
  write(bus(kFirst) + "/current_compute_partition", "SPX\n");
  write(bus(kSecond) + "/current_compute_partition", "DPX\n");
  EXPECT_EQ(see().facts.at("compute-partition"), "mixed");
}

TEST_F(Amd, CountsErrorsByBlock) {
  ras(kFirst, "umc", "ue: 1\nce: 40\nde: 2\n");
  ras(kFirst, "gfx", "ue: 0\nce: 0\n");
  ras(kSecond, "xgmi_wafl", "ue: 0\nce: 7\n");
  write(bus(kFirst) + "/ras/features", "feature mask: 0x7f\n");
  const domain::Observation o = see();
  EXPECT_THAT(list(o),
              ElementsAre("0 ras.gfx.ue", "0 ras.gfx.ce", "0 ras.umc.ue=1", "0 ras.umc.ce=40",
                          "0 ras.umc.de=2", "1 ras.xgmi_wafl.ue", "1 ras.xgmi_wafl.ce=7"));
  for (const domain::Signal& s : o.signals) EXPECT_EQ(s.kind, domain::SignalKind::counter);
}

TEST_F(Amd, RubbishCountersAreLeftOut) {
  ras(kFirst, "umc", "ue: -1\nce: many\nde: 3x\n");
  ras(kFirst, "gfx", "");
  ras(kFirst, "sdma", std::string(5000, '\xff'));
  ras(kSecond, "umc", "ce: 5\nue\n: 9\n");
  EXPECT_THAT(list(see()), ElementsAre("1 ras.umc.ce=5"));
}

TEST_F(Amd, ANewErrorIsAChange) {
  ras(kFirst, "umc", "ue: 0\nce: 0\n");
  see();
  EXPECT_FALSE(probe_.changes());
  ras(kFirst, "umc", "ue: 0\nce: 1\n");
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(list(see()), Contains("0 ras.umc.ce=1"));
  EXPECT_FALSE(probe_.changes());
}

TEST_F(Amd, TheChipsAreReadInEachNthCall) {
  ras(kFirst, "umc", "ue: 0\nce: 0\n");
  AmdOptions rarely = options();
  rarely.health_every = 3;
  AmdProbe probe(rarely);
  ASSERT_TRUE(probe.discover());
  ras(kFirst, "umc", "ue: 1\nce: 0\n");
  EXPECT_FALSE(probe.changes());
  EXPECT_FALSE(probe.changes());
  EXPECT_TRUE(probe.changes());
}

TEST_F(Amd, AResetShowsInTheCountersThatAreRefused) {
  ras(kFirst, "umc", "ue: 0\nce: 0\n");
  see();
  ras(kFirst, "umc", "Query currently inaccessible\n");
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(list(see()), ElementsAre("0 amd.hung"));
  ras(kFirst, "umc", "ue: 0\nce: 0\n");
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(list(see()), ElementsAre("0 ras.umc.ue", "0 ras.umc.ce", "0 amd.reset"));
  EXPECT_THAT(list(see()), ElementsAre("0 ras.umc.ue", "0 ras.umc.ce"));
}

TEST_F(Amd, AResetIsOverWhenTheCountersAreThereAgain) {
  ras(kFirst, "umc", "Query currently inaccessible\n");
  see();
  remove(bus(kFirst) + "/ras");
  EXPECT_THAT(list(see()), IsEmpty());
  ras(kFirst, "umc", "ue: 1\n");
  ras(kSecond, "umc", "ue: 1\n");
  EXPECT_THAT(list(see()), ElementsAre("0 ras.umc.ue=1", "0 amd.reset", "1 ras.umc.ue=1"));
}

TEST_F(Amd, HeatIsAReadingAndTheCriticalTemperatureAState) {
  const std::string sensors = bus(kFirst) + "/hwmon/hwmon3/";
  write(sensors + "temp1_input", "45000\n");
  write(sensors + "temp1_crit", "100000\n");
  write(sensors + "temp2_input", "71500\n");
  write(sensors + "temp2_label", "junction\n");
  write(sensors + "temp2_crit", "110000\n");
  write(sensors + "temp3_input", "4294967295\n");  // off
  write(sensors + "temp4_input", "N/A\n");
  EXPECT_THAT(list(see()), ElementsAre("0 amd.temperature=71"));
  write(sensors + "temp2_input", "72500\n");
  EXPECT_FALSE(probe_.changes());  // a new reading alone does not count as a change
  write(sensors + "temp2_input", "110000\n");
  EXPECT_TRUE(probe_.changes());
  const domain::Observation o = see();
  EXPECT_THAT(list(o), ElementsAre("0 amd.thermal", "0 amd.temperature=110"));
  EXPECT_THAT(o.signals[0].text, HasSubstr("junction"));
  write(sensors + "temp2_crit", "0\n");  // none
  EXPECT_THAT(list(see()), ElementsAre("0 amd.temperature=110"));
}

TEST_F(Amd, XgmiErrorsAreAnEvent) {
  write(bus(kFirst) + "/xgmi_error", "0\n");
  write(bus(kSecond) + "/xgmi_error", "2\n");
  const domain::Observation o = see();
  EXPECT_THAT(list(o), ElementsAre("1 amd.xgmi-error=2"));
  EXPECT_EQ(o.signals[0].kind, domain::SignalKind::event);
}

TEST_F(Amd, LanesArePortsWhereTheDriverNumbersThem) {
  for (const std::string& pci : {kFirst, kSecond}) {
    link(bus(pci) + "/xgmi_hive_info/node1", "/sys/devices/pci0000:10/0000:10:01.0/" + kFirst);
    link(bus(pci) + "/xgmi_hive_info/node2", "/sys/devices/pci0000:80/0000:80:01.0/" + kSecond);
  }
  write(bus(kFirst) + "/xgmi_port_num", "01:0a ->  02:03\n01:01 ->  01:01\n01:02 ->  07:01\n");
  write(bus(kSecond) + "/xgmi_port_num",
        "02:03 ->  01:0a\nrubbish\n02:zz -> 01:01\n02:1ff -> 01:0\n->\n");
  const domain::Observation o = see();
  ASSERT_THAT(o.ports, SizeIs(2));
  EXPECT_EQ(o.ports[0].chip, ChipIndex{0});
  EXPECT_EQ(o.ports[0].number, 10);
  EXPECT_EQ(o.ports[0].peer, ChipIndex{1});
  EXPECT_EQ(o.ports[1].chip, ChipIndex{1});
  EXPECT_EQ(o.ports[1].number, 3);
  EXPECT_EQ(o.ports[1].peer, ChipIndex{0});
}

TEST_F(Amd, LanesOfAPackageInPartitionsAreNobodysPorts) {
  gpu({4, "0000:11:00.1", 130, 0xa1});  // a second partition of the first package
  for (const std::string& pci : {kFirst, kSecond}) {
    link(bus(pci) + "/xgmi_hive_info/node1", "/sys/devices/pci0000:10/0000:10:01.0/" + kFirst);
    link(bus(pci) + "/xgmi_hive_info/node2", "/sys/devices/pci0000:80/0000:80:01.0/" + kSecond);
  }
  write(bus(kFirst) + "/xgmi_port_num", "01:01 ->  02:01\n");
  EXPECT_THAT(see().ports, IsEmpty());
  remove(bus(kFirst) + "/xgmi_port_num");
  write(bus(kSecond) + "/xgmi_port_num", "02:01 ->  01:01\n");
  EXPECT_THAT(see().ports, IsEmpty());
}

TEST_F(Amd, ALanePastTheTopologysLinksIsNoPort) {
  remove(nodes() + "2/io_links");
  remove(nodes() + "3/io_links");
  link(bus(kFirst) + "/xgmi_hive_info/node2", "/sys/devices/pci0000:80/0000:80:01.0/" + kSecond);
  write(bus(kFirst) + "/xgmi_port_num", "01:01 ->  02:01\n");
  EXPECT_THAT(see().ports, IsEmpty());
}

TEST_F(Amd, AChipThatFallsOffKeepsItsPlace) {
  for (const std::string& pci : {kFirst, kSecond}) {
    write(bus(pci) + "/current_compute_partition", "SPX\n");
  }
  see();
  drop(2, kFirst);
  EXPECT_TRUE(probe_.changes());
  const domain::Observation o = see();
  ASSERT_EQ(o.topology.chip_count(), 2);
  EXPECT_EQ(o.topology.chip(0).pci, kFirst);
  EXPECT_EQ(o.topology.chip(1).pci, kSecond);
  EXPECT_NE(o.topology.link(0, 1), nullptr);
  EXPECT_THAT(list(o), ElementsAre("0 amd.gone"));
  EXPECT_EQ(o.facts.at("compute-partition"), "SPX");  // of the present ones
  EXPECT_FALSE(probe_.changes());
  EXPECT_THAT(list(see()), ElementsAre("0 amd.gone"));  // until it returns
}

TEST_F(Amd, AChipThatComesBackIsWellAgain) {
  see();
  remove(nodes() + "3");
  generation(2);
  EXPECT_THAT(list(see()), ElementsAre("1 amd.gone"));
  gpu({3, kSecond, 129, 0xa2});
  xgmi(3, 2);
  to_cpu(3, 1, 64000);
  generation(3);
  EXPECT_TRUE(probe_.changes());
  const domain::Observation o = see();
  EXPECT_THAT(o.signals, IsEmpty());
}

TEST_F(Amd, AChipThatLeftTheBusIsGoneAlthoughKfdHasIt) {
  see();
  remove(bus(kSecond));
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(list(see()), ElementsAre("1 amd.gone"));
}

TEST_F(Amd, AChipThatTheBusNeverShowedIsNotGone) {
  remove(bus(kSecond));
  EXPECT_THAT(see().signals, IsEmpty());
}

TEST_F(Amd, WithoutItsDriverEveryChipIsGone) {
  see();
  remove("/sys/class/kfd");
  EXPECT_TRUE(probe_.changes());
  const domain::Observation o = see();
  EXPECT_THAT(list(o), ElementsAre("0 amd.gone", "1 amd.gone"));
  EXPECT_EQ(o.topology.chip_count(), 2);
}

TEST_F(Amd, AnotherCardIsAnotherMachine) {
  see();
  drop(3, kSecond);
  package("pci0000:80/0000:80:02.0/0000:91:00.0", 1);
  gpu({3, "0000:91:00.0", 129, 0xb7});
  const domain::Observation o = see();
  ASSERT_EQ(o.topology.chip_count(), 2);
  EXPECT_EQ(o.topology.chip(1).pci, "0000:91:00.0");
  EXPECT_THAT(o.signals, IsEmpty());
}

TEST_F(Amd, NothingAtAllIsAnOrdinaryState) {
  AmdFolder empty;
  AmdOptions nowhere;
  nowhere.root = empty.root();
  const auto none = AmdProbe(nowhere).discover();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
  empty.cpu(0);  // the driver, without a chip
  const auto only_cpu = AmdProbe(nowhere).discover();
  ASSERT_FALSE(only_cpu);
  EXPECT_EQ(only_cpu.error().code, Errc::not_found);
}

TEST_F(Amd, ATreeThatContradictsItselfIsAnError) {
  write(nodes() + "2/properties", "cpu_cores_count 0\nsimd_count lots\n");
  const auto got = probe_.discover();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().text(), HasSubstr("nodes/2/properties"));
}

TEST_F(Amd, ATreeThatChangesAllTheTimeIsNotRead) {
  remove("/sys/class/kfd/kfd/topology/generation_id");
  // A text that differs at each read.
  std::filesystem::create_symlink("/proc/sys/kernel/random/uuid",
                                  root() + "/sys/class/kfd/kfd/topology/generation_id");
  const auto got = probe_.discover();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::unavailable);
}

TEST_F(Amd, NicsAreOnTheMapAndTheirStateIsAChange) {
  const std::string at = nic("pci0000:80/0000:80:02.0/0000:82:00.0", "mlx5_0", "eth2", 7, 1);
  const domain::Observation o = see();
  ASSERT_THAT(o.topology.nics(), SizeIs(1));
  EXPECT_THAT(o.topology.nics()[0].paths, ElementsAre(LinkKind::sys, LinkKind::phb));
  write(at + "/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  EXPECT_TRUE(probe_.changes());
  EXPECT_THAT(list(see()), Contains("nic.down"));
}

}  // namespace
}  // namespace chipweave::agent
