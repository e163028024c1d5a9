// The file of an overlay: what is written reads back; what cannot be true is refused by its field.
#include "common/codec/calibration/overlay_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/files.hpp"
#include "common/solver/chips/machine.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "tests/unit/calibration/log_text.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using test::machine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

OverlayFile a100() {
  OverlayFile out;
  out.vendor = "nvidia";
  out.models = {"A100-SXM4", "NVIDIA A100-SXM4-40GB"};
  out.rates = {{LinkKind::nvswitch, 19.1, 20, 2}, {LinkKind::phb, 20, 24, 1}};
  out.made_by = "chipweave 1";
  out.machine = "hgx-a100-8";
  out.logs = {{"a.log", std::string(64, 'a'), "2026-03-14", "", "NCCL 2.21"}};
  out.points = {{0,
                 3,
                 "all_reduce",
                 {0, 1},
                 "--chips",
                 {1ULL << 30U},
                 true,
                 229,
                 240,
                 229.2,
                 {"NVSWITCH"},
                 true}};
  return out;
}

std::string altered(const std::string& what, const std::string& instead) {
  std::string text = write_overlay(a100());
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

std::string overlay_refusal(const std::string& json) {
  const auto overlay = read_overlay(json, "a.json");
  return overlay ? "accepted" : overlay.error().text();
}

TEST(OverlayFiles, ReadBack) {
  const auto overlay = read_overlay(write_overlay(a100()), "a.json");
  ASSERT_TRUE(overlay.ok()) << overlay.error().text();
  EXPECT_EQ(overlay->name, "a.json");
  EXPECT_EQ(overlay->vendor, "nvidia");
  EXPECT_THAT(overlay->models, ElementsAre("A100-SXM4", "NVIDIA A100-SXM4-40GB"));
  EXPECT_THAT(overlay->lanes, ElementsAre(Pair(LinkKind::nvswitch, 19.1)));
  EXPECT_THAT(overlay->host, ElementsAre(Pair(LinkKind::phb, 20)));
}

TEST(OverlayFiles, AreRefusedByTheirField) {
  EXPECT_THAT(overlay_refusal(altered("\"vendor\"", "\"vendors\"")), HasSubstr("vendors"));
  EXPECT_THAT(overlay_refusal(altered("overlay/1", "overlay/2")),
              HasSubstr("format: expected \"chipweave-profile-overlay/1\""));
  EXPECT_THAT(overlay_refusal(altered("\"NVSWITCH\": {", "\"NVLINX\": {")),
              HasSubstr("gbps_per_lane.NVLINX: unknown kind of link"));
  EXPECT_THAT(overlay_refusal(altered("\"NVSWITCH\": {", "\"PIX\": {")),
              HasSubstr("gbps_per_lane.PIX"));
  EXPECT_THAT(overlay_refusal(altered("\"PHB\": {", "\"NVLINK\": {")),
              HasSubstr("host_gbps.NVLINK: unknown host path"));
  EXPECT_THAT(overlay_refusal(altered("19.1", "191")),
              HasSubstr("gbps_per_lane.NVSWITCH.gbps: must be between 0.5 and 1.25 times"));
  EXPECT_THAT(overlay_refusal(altered("19.1", "-19.1")),
              HasSubstr("must be above 0 and at most 1000"));
  EXPECT_THAT(overlay_refusal(altered("19.1", "\"fast\"")),
              HasSubstr("gbps_per_lane.NVSWITCH.gbps"));
  EXPECT_THAT(overlay_refusal(altered("\"replaces\": 20.0,", "")),
              HasSubstr("gbps_per_lane.NVSWITCH.replaces"));
  EXPECT_THAT(overlay_refusal(altered("\"log\": 0", "\"log\": 1")),
              HasSubstr("points[0].log: \"logs\" has no such entry"));
  EXPECT_THAT(overlay_refusal(altered("\"measured\": 229.0", "\"measured\": -1")),
              HasSubstr("points[0].measured"));
  EXPECT_THAT(overlay_refusal("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(overlay_refusal("{"), HasSubstr("line 1"));
  OverlayFile nothing = a100();
  nothing.rates.clear();
  EXPECT_THAT(overlay_refusal(write_overlay(nothing)), HasSubstr("the file replaces no constant"));
  nothing = a100();
  nothing.models.clear();
  EXPECT_THAT(overlay_refusal(write_overlay(nothing)),
              HasSubstr("models: must name at least one model"));
  EXPECT_THAT(overlay_refusal(std::string(kMaxOverlayBytes + 1, ' ')), HasSubstr("1"));
}

TEST(Overlays, ReplaceConstantsOfTheirModelsOnly) {
  const domain::RateOverlay overlay = read_overlay(write_overlay(a100()), "a.json").value();
  const domain::NodeTopology hgx = machine("hgx-a100-8");
  const domain::NodeTopology measured = domain::calibrated(hgx, {overlay});
  EXPECT_DOUBLE_EQ(measured.switches()[0].gbps_per_lane, 19.1);
  EXPECT_DOUBLE_EQ(measured.host_bandwidth().phb, 20);
  EXPECT_DOUBLE_EQ(measured.host_bandwidth().pix, hgx.host_bandwidth().pix);
  // four A100 have direct links, another kind
  const domain::NodeTopology four = machine("hgx-a100-4");
  EXPECT_DOUBLE_EQ(domain::calibrated(four, {overlay}).links()[0].gbps_per_lane,
                   four.links()[0].gbps_per_lane);
  const domain::NodeTopology h100 = machine("hgx-h100-8");
  EXPECT_EQ(export_topology_json(domain::calibrated(h100, {overlay})), export_topology_json(h100));
}

// Same wiring, other constants: another Machine.
TEST(Overlays, MakeAnotherClassOfMachines) {
  const domain::RateOverlay overlay = read_overlay(write_overlay(a100()), "a.json").value();
  const domain::NodeTopology hgx = machine("hgx-a100-8");
  solver::MachineCache cache;
  const auto raw = cache.get(hgx);
  const auto measured = cache.get(domain::calibrated(hgx, {overlay}));
  EXPECT_NE(raw, measured);
  EXPECT_DOUBLE_EQ(raw->gbps(hgx.all()), 240);
  EXPECT_DOUBLE_EQ(measured->gbps(hgx.all()), 229.2);
}

TEST(Overlays, OfOneFolderMustNotContradictEachOther) {
  const io::TempFolder folder;
  folder.put("a.json", write_overlay(a100()));
  folder.put("README", "no overlay");
  ASSERT_TRUE(io::load_overlays(folder.path()).ok());
  folder.put("b.json", altered("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"));
  const auto both = io::load_overlays(folder.path());
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().text(), HasSubstr("NVSWITCH of \"A100-SXM4\" is given by"));
  folder.put("b.json", altered("19.1", "191"));
  EXPECT_THAT(io::load_overlays(folder.path()).error().text(),
              HasSubstr("b.json: gbps_per_lane.NVSWITCH.gbps"));
  const io::TempFolder empty;
  EXPECT_THAT(io::load_overlays(empty.path()).error().text(),
              HasSubstr("the folder has no files *.json"));
  EXPECT_FALSE(io::load_overlays(empty.path() + "/none").ok());
}

}  // namespace
}  // namespace chipweave::codec
