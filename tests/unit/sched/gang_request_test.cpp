// From what a gang asks for to the request that the planner gets.
#include "scheduler-plugin/model/gangs/gang_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/solver/gang/planner.hpp"

namespace chipweave::sched {
namespace {

using domain::Gang;
using domain::PodSet;

const std::vector<std::string> kLevels{"block", "rack", "hostname"};

std::optional<int> by_label(std::string_view name) {
  if (name == "topology.example.com/rack") return 1;
  if (name == "tier:7") return 0;
  if (name == "broken") return 99;
  return std::nullopt;
}

GangMembers members_of(std::vector<RoleMembers> roles) {
  return {"nvidia.com/gpu", std::move(roles)};
}

GangSpec sized(int size) {
  GangSpec out;
  out.size = size;
  return out;
}

RoleSpec role_of(std::string name, std::optional<int> pods,
                 std::optional<int> minimum = std::nullopt) {
  RoleSpec out;
  out.name = std::move(name);
  out.pods = pods;
  out.minimum = minimum;
  out.chips = domain::ChipCounts{{"nvidia.com/gpu", 8}};
  return out;
}

SubgroupSpec subgroup_of(std::string name, int pods, std::optional<int> minimum = std::nullopt,
                         std::string parent = {}) {
  SubgroupSpec out;
  out.name = std::move(name);
  out.parent = std::move(parent);
  out.pods = pods;
  out.minimum = minimum;
  return out;
}

TopologyWish wish_of(std::vector<std::string> required, std::vector<std::string> preferred = {},
                     std::vector<domain::WishedSlice> slices = {}) {
  TopologyWish out;
  out.required = std::move(required);
  out.preferred = std::move(preferred);
  out.slices = std::move(slices);
  return out;
}

// "in rack near hostname 2@hostname even"
template <class Part>
std::string levels_text(const Part& part) {
  std::string out;
  const auto add = [&](const std::string& text) { out += " " + text; };
  const auto name = [](int level) { return kLevels.at(static_cast<std::size_t>(level)); };
  if (part.required_level != domain::kNoLevel) add("in " + name(part.required_level));
  if (part.preferred_level != domain::kNoLevel) add("near " + name(part.preferred_level));
  for (const domain::Slice& slice : part.slices)
    add(std::to_string(slice.size) + "@" + name(slice.level));
  return out;
}

// The gang as one line; the error if there is none.
std::string asked(const GangSpec& spec, const GangMembers& members,
                  const std::vector<std::string>& levels = kLevels) {
  const auto gang = gang_of(spec, members, levels, by_label);
  if (!gang) return gang.error().text();
  std::string out = std::to_string(gang->min_member) + ".." + std::to_string(gang->pods) + "x" +
                    std::to_string(gang->chips_per_pod) + levels_text(*gang);
  if (gang->policy == domain::GangPolicy::even) out += " even";
  if (!gang->pod_chips.empty()) out += " chips " + testing::PrintToString(gang->pod_chips);
  if (gang->roles) out += " roles";
  for (const PodSet& set : gang->sets) {
    out += "; " + set.name + " " + std::to_string(set.pods) + "x" +
           std::to_string(set.chips_per_pod) + levels_text(set);
    if (!gang->roles)
      out += " least " + std::to_string(set.own_min) + "/" + std::to_string(set.min_member);
    if (set.parent != domain::kNoSet)
      out += " in " + gang->sets[static_cast<std::size_t>(set.parent)].name;
    if (!set.kind.empty()) out += " of " + set.kind;
    if (!set.together.empty()) out += " with " + set.together;
  }
  for (const auto& [set, least] : gang->min_sets) out += "; " + set + " " + std::to_string(least);
  return out;
}

TEST(GangRequest, PodsAlone) {
  EXPECT_EQ(asked({}, members_of({{"", 4, 8, {}}})), "4..4x8");
  EXPECT_EQ(asked(sized(8), members_of({{"", 1, 8, {}}})), "8..8x8");
  GangSpec spec = sized(8);
  spec.minimum = 6;
  EXPECT_EQ(asked(spec, members_of({{"worker", 8, 8, {}}})), "6..8x8");
  spec.size.reset();
  EXPECT_EQ(asked(spec, members_of({{"worker", 2, 8, {}}})), "6..6x8");
  // pods of two kinds are numbered through their roles
  EXPECT_EQ(asked(sized(3), members_of({{"master", 1, 0, {}}, {"worker", 2, 8, {}}})),
            "3..3x0 chips { 0, 8, 8 }");
}

TEST(GangRequest, ChipsOfUnbornPodsComeFromTheOwner) {
  GangSpec spec;
  spec.roles = {role_of("master", 1), role_of("worker", 3)};
  EXPECT_EQ(asked(spec, members_of({{"master", 1, 8, {}}})), "4..4x8");
  spec.roles[0].chips = domain::ChipCounts{};
  EXPECT_EQ(asked(spec, members_of({})), "4..4x0 chips { 0, 8, 8, 8 }");
  spec.roles[1].chips.reset();
  const auto gang = gang_of(spec, members_of({}), kLevels, by_label);
  ASSERT_FALSE(gang.ok());
  EXPECT_EQ(gang.error().code, Errc::unavailable);
  EXPECT_THAT(gang.error().text(),
              testing::HasSubstr("how many chips the pods of role \"worker\""));
  EXPECT_EQ(asked(spec, members_of({{"worker", 1, 4, {}}})), "4..4x0 chips { 0, 4, 4, 4 }");
  // those that only pods name follow
  EXPECT_EQ(asked(spec, members_of({{"worker", 1, 4, {}}, {"extra", 2, 1, {}}})),
            "6..6x0 chips { 0, 4, 4, 4, 1, 1 }");
  EXPECT_THAT(asked(sized(4), members_of({{"a", 1, 1, {}}, {"b", 1, 2, {}}})),
              testing::HasSubstr("how many chips 2 pods need is unknown"));
}

TEST(GangRequest, Levels) {
  GangSpec spec = sized(8);
  const GangMembers members = members_of({{"", 8, 1, {}}});
  spec.topology = wish_of({"block"}, {"rack"}, {{"hostname", 2}, {"rack", 4}});
  EXPECT_EQ(asked(spec, members), "8..8x1 in block near rack 4@rack 2@hostname");
  spec.topology = wish_of({"topology.example.com/rack"});
  EXPECT_EQ(asked(spec, members), "8..8x1 in rack");
  // of several the finest: it lies inside the others
  spec.topology = wish_of({"rack", "block"}, {"block", "hostname", "rack"});
  EXPECT_EQ(asked(spec, members), "8..8x1 in rack near hostname");
  spec.topology.even = true;
  EXPECT_EQ(asked(spec, members), "8..8x1 in rack near hostname even");
  spec.topology = wish_of({"rick"});
  EXPECT_EQ(asked(spec, members),
            "required level: unknown level \"rick\" (did you mean \"rack\"?); known: block, rack, "
            "hostname");
  spec.topology = wish_of({}, {"broken"});
  EXPECT_THAT(asked(spec, members),
              testing::StartsWith("preferred level: unknown level \"broken\""));
}

TEST(GangRequest, TiersCountFromTheHosts) {
  const auto tier = [](const char* name, const std::vector<std::string>& levels) {
    GangSpec spec = sized(2);
    spec.topology = wish_of({name});
    const auto gang = gang_of(spec, members_of({{"", 2, 1, {}}}), levels, by_label);
    return gang ? std::to_string(gang->required_level) : gang.error().text();
  };
  EXPECT_EQ(tier("tier:1", kLevels), "1");
  EXPECT_EQ(tier("tier:2", kLevels), "0");
  EXPECT_EQ(tier("tier:0", kLevels), "2");
  EXPECT_EQ(tier("tier:3", kLevels), "-1");  // above all: no bound
  EXPECT_EQ(tier("tier:7", kLevels), "0");   // as the network says
  EXPECT_EQ(tier("tier:1", {"spine", "leaf"}), "1");
  EXPECT_EQ(tier("tier:2", {"spine", "leaf"}), "0");
  EXPECT_EQ(tier("tier:3", {"tier-5", "tier-3", "tier-2"}), "1");
  EXPECT_EQ(tier("tier:4", {"tier-5", "tier-3", "tier-2"}), "1");
  EXPECT_EQ(tier("tier:6", {"tier-5", "tier-3", "tier-2"}), "-1");
  EXPECT_EQ(tier("tier:6", {"core", "tier-5", "tier-3"}), "0");
  EXPECT_THAT(tier("tier:1", {"tier-5", "tier-3", "tier-2"}),
              testing::HasSubstr("no level has tier 1"));
  EXPECT_THAT(tier("tier:0", {"spine", "leaf"}), testing::HasSubstr("no level has tier 0"));
  EXPECT_THAT(tier("tier:x", kLevels), testing::HasSubstr("tier x is not a number"));
  EXPECT_THAT(tier("tier:99999999999", kLevels), testing::HasSubstr("is not a number"));
  EXPECT_EQ(tier("tier:1", {}), "-1");
}

TEST(GangRequest, SlicesThatCannotBe) {
  GangSpec spec = sized(8);
  const GangMembers members = members_of({{"", 8, 1, {}}});
  spec.topology = wish_of({"rack"}, {}, {{"block", 2}});
  EXPECT_EQ(asked(spec, members), "slices: level block is above the required level rack");
  spec.topology = wish_of({}, {}, {{"rack", 0}});
  EXPECT_EQ(asked(spec, members), "slices: the size of slices is from 1 to 100000, got 0");
  spec.topology = wish_of({}, {}, {{"rack", 4}, {"rack", 2}});
  EXPECT_EQ(asked(spec, members), "slices: level rack is named twice");
  spec.topology = wish_of({}, {}, {{"block", 4}, {"rack", 3}});
  EXPECT_THAT(asked(spec, members),
              testing::HasSubstr("slices of 3 pods do not divide those of 4"));
  spec.topology = wish_of({}, {}, {{"rik", 4}});
  EXPECT_THAT(asked(spec, members), testing::StartsWith("slices: unknown level"));
}

TEST(GangRequest, NumbersThatCannotBe) {
  const GangMembers members = members_of({{"", 2, 1, {}}});
  GangSpec spec = sized(4);
  spec.minimum = 5;
  EXPECT_EQ(asked(spec, members), "minimum: at least 5 pods must start, there are 4");
  EXPECT_EQ(asked(sized(-1), members), "size: must be 0 to 100000, got -1");
  EXPECT_EQ(asked(sized(1000000000), members), "size: must be 0 to 100000, got 1000000000");
  spec = {};
  spec.roles = {role_of("w", 2, 3)};
  EXPECT_EQ(asked(spec, members), "roles[\"w\"]: minimum: is more than its 2 pods");
  spec.roles = {role_of("a", 60000), role_of("b", 60000)};
  EXPECT_EQ(asked(spec, members_of({})), "120000 pods, at most 100000 are accepted");
  // more may be known later
  spec = {};
  spec.minimum = 6;
  spec.roles = {role_of("w", std::nullopt, 2)};
  const auto gang = gang_of(spec, members_of({}), kLevels, by_label);
  ASSERT_FALSE(gang.ok());
  EXPECT_EQ(gang.error().code, Errc::unavailable);
  spec = sized(2);
  spec.problem = "spec.tasks: expected a list, got a string";
  EXPECT_EQ(asked(spec, members), spec.problem);
  EXPECT_EQ(asked(sized(2), members_of({{"", 2, 1,
                                         [] {
                                           TopologyWish wish;
                                           wish.problem = "sp-block is \"0\"";
                                           return wish;
                                         }()}})),
            "sp-block is \"0\"");
}

TEST(GangRequest, RolesKeepTheirOwnConstraints) {
  GangSpec spec;
  spec.roles = {role_of("leader", 1), role_of("worker", 4)};
  const GangMembers none = members_of({});
  // of templates: the gang's, unless each role is meant
  spec.roles[0].topology = spec.roles[1].topology = wish_of({"rack"});
  EXPECT_EQ(asked(spec, none), "5..5x8 in rack");
  for (RoleSpec& role : spec.roles) role.topology.per_role = true;
  spec.roles[1].topology.slices = {{"hostname", 2}};
  EXPECT_EQ(asked(spec, none), "5..5x8 roles; leader 1x8 in rack; worker 4x8 in rack 2@hostname");
  for (RoleSpec& role : spec.roles) role.topology.together = "g";
  spec.topology = wish_of({"block"});
  EXPECT_EQ(
      asked(spec, none),
      "5..5x8 in block roles; leader 1x8 in rack with g; worker 4x8 in rack 2@hostname with g");
  spec.roles[1].topology.slices = {{"block", 2}};
  EXPECT_EQ(asked(spec, none),
            "roles[\"worker\"]: slices: level block is above the required level rack");
}

TEST(GangRequest, WishesOfPodsCountWhereTheOwnerHasNone) {
  TopologyWish kueue = wish_of({"rack"}, {}, {{"hostname", 2}});
  kueue.per_role = true;
  EXPECT_EQ(asked(sized(4), members_of({{"", 4, 1, kueue}})), "4..4x1 in rack 2@hostname");
  EXPECT_EQ(asked({}, members_of({{"a", 2, 1, kueue}, {"b", 4, 1, {}}})),
            "6..6x1 roles; a 2x1 in rack 2@hostname; b 4x1");
  EXPECT_EQ(asked({}, members_of({{"a", 2, 1, wish_of({"rack"})}, {"b", 4, 1, wish_of({"rack"})}})),
            "6..6x1 in rack");
  GangSpec spec = sized(4);
  spec.topology = wish_of({"block"});
  EXPECT_EQ(asked(spec, members_of({{"", 4, 1, wish_of({"rack"})}})), "4..4x1 in block");
}

TEST(GangRequest, ElasticRolesStartWithTheirMinimum) {
  GangSpec spec;
  spec.roles = {role_of("master", 1), role_of("worker", 8, 4), role_of("helper", 2, 0)};
  EXPECT_EQ(asked(spec, members_of({})),
            "5..11x8; master 1x8 least 1/0 of all of; worker 8x8 least 4/0 of all of; helper 2x8 "
            "least 0/0; all of 2");
  spec.roles[1].topology = wish_of({}, {}, {{"rack", 2}});
  spec.roles[1].topology.per_role = true;
  EXPECT_THAT(
      asked(spec, members_of({})),
      testing::StartsWith("roles[\"worker\"]: slices and pod set groups cannot be combined"));
}

TEST(GangRequest, PartitionsAreSlicesIfAllMustStart) {
  GangSpec spec;
  spec.roles = {role_of("worker", 8)};
  spec.roles[0].partition = domain::Partition{2, 4, std::nullopt, wish_of({"tier:1"})};
  EXPECT_EQ(asked(spec, members_of({})), "8..8x8 roles; worker 8x8 2@rack");
  spec.roles[0].partition->topology = {};
  EXPECT_EQ(asked(spec, members_of({})), "8..8x8 roles; worker 8x8");
  spec = sized(8);
  spec.partition = domain::Partition{4, std::nullopt, std::nullopt, wish_of({"rack"})};
  EXPECT_EQ(asked(spec, members_of({{"w", 2, 1, {}}})), "8..8x1 roles; w 8x1 4@rack");
}

TEST(GangRequest, OtherPartitionsAreSubgroups) {
  GangSpec spec;
  spec.roles = {role_of("ps", 1), role_of("w", 7, 4)};
  spec.roles[1].partition = domain::Partition{2, 3, 2, wish_of({"rack"})};
  EXPECT_EQ(asked(spec, members_of({})),
            "5..8x8; ps 1x8 least 1/0 of all of; w 0x8 least 0/4 of all of; "
            "w/0 2x8 in rack least 2/0 in w of partitions of w; "
            "w/1 2x8 in rack least 2/0 in w of partitions of w; "
            "w/2 2x8 in rack least 2/0 in w of partitions of w; "
            "w/rest 1x8 least 0/0 in w; all of 2; partitions of w 2");
  spec.roles[1].partition->minimum = 4;
  EXPECT_EQ(asked(spec, members_of({})),
            "roles[\"w\"]: partitions: at least 4 must start, there are 3");
  spec.roles[1].partition = domain::Partition{4, 3, std::nullopt, {}};
  EXPECT_EQ(asked(spec, members_of({})),
            "roles[\"w\"]: partitions: 3 of 4 pods are more than its 7 pods");
  spec.roles[1].partition->size = 0;
  EXPECT_EQ(asked(spec, members_of({})),
            "roles[\"w\"]: partition size: must be 1 to 100000, got 0");
  spec.roles[1] = role_of("w", 90000, 1);
  spec.roles[1].partition = domain::Partition{1, std::nullopt, std::nullopt, {}};
  EXPECT_THAT(asked(spec, members_of({})), testing::HasSubstr("more than 2000 partitions"));
}

TEST(GangRequest, Subgroups) {
  GangSpec spec;
  spec.chips = domain::ChipCounts{{"nvidia.com/gpu", 4}};
  spec.subgroups = {subgroup_of("p", 0), subgroup_of("leader", 1, 1, "p"),
                    subgroup_of("w", 3, 2, "p"), subgroup_of("d", 2)};
  spec.subgroups[0].topology = wish_of({"rack"});
  spec.topology = wish_of({"block"});
  EXPECT_EQ(asked(spec, members_of({{"d", 1, 4, {}}})),
            "5..6x4 in block; p 0x0 in rack least 0/3 of all of; leader 1x4 least 1/0 in p of all "
            "of; w 3x4 least 2/0 in p of all of; d 2x4 least 2/0 of all of; all of 4");
  // one of two is enough
  spec = {};
  spec.chips = domain::ChipCounts{{"nvidia.com/gpu", 4}};
  spec.subgroups = {subgroup_of("a", 4, 3), subgroup_of("b", 2)};
  for (SubgroupSpec& one : spec.subgroups) one.set = "any";
  spec.min_sets["any"] = 1;
  EXPECT_EQ(asked(spec, members_of({})),
            "2..6x4; a 4x4 least 3/0 of any; b 2x4 least 2/0 of any; any 1");
  // pods that no subgroup names start with any number
  EXPECT_EQ(asked(spec, members_of({{"", 2, 4, {}}})),
            "2..8x4; a 4x4 least 3/0 of any; b 2x4 least 2/0 of any;  2x4 least 0/0; any 1");
}

TEST(GangRequest, SubgroupsThatCannotBe) {
  const auto with = [](std::vector<SubgroupSpec> subgroups) {
    GangSpec spec;
    spec.chips = domain::ChipCounts{};
    spec.subgroups = std::move(subgroups);
    return spec;
  };
  const GangMembers none = members_of({});
  EXPECT_EQ(asked(with({subgroup_of("a", 1, 1, "b"), subgroup_of("b", 1, 1, "a")}), none),
            "subgroups[\"a\"]: is a part of itself");
  EXPECT_EQ(asked(with({subgroup_of("a", 1, 1, "a")}), none),
            "subgroups[\"a\"]: is a part of itself");
  EXPECT_EQ(asked(with({subgroup_of("a", 1, 1, "x")}), none),
            "subgroups[\"a\"]: unknown parent \"x\"");
  EXPECT_EQ(asked(with({subgroup_of("a", 1), subgroup_of("a", 1)}), none),
            "subgroups[\"a\"]: has the name of another one");
  EXPECT_EQ(asked(with({subgroup_of("a", 1, 2)}), none),
            "subgroups[\"a\"]: at least 2 pods must start, there are 1");
  EXPECT_EQ(asked(with({subgroup_of("a", -1)}), none),
            "subgroups[\"a\"]: pods: must be 0 to 100000, got -1");
  GangSpec spec = with({subgroup_of("a", 1), subgroup_of("b", 1)});
  spec.subgroups[0].topology = wish_of({"x"});
  EXPECT_THAT(asked(spec, none), testing::StartsWith("subgroups[\"a\"]: required level: unknown"));
  spec.subgroups[0].topology = {};
  spec.min_sets["none"] = 1;
  EXPECT_EQ(asked(spec, none), "min_sets: 1 of \"none\" must start, there are 0");
  spec.min_sets.clear();
  spec.roles = {role_of("w", 1)};
  EXPECT_EQ(asked(spec, none), "subgroups cannot be combined with roles");
  spec = with({subgroup_of("a", 0), subgroup_of("b", 0), subgroup_of("c", 1, 1, "a"),
               subgroup_of("d", 1, 1, "a")});
  spec.subgroups[0].set = spec.subgroups[1].set = "top";
  spec.subgroups[2].set = spec.subgroups[3].set = "of a";
  spec.min_sets = {{"top", 1}, {"of a", 1}};
  EXPECT_EQ(asked(spec, none),
            "subgroups[\"c\"]: a minimum of subgroups inside one that may be left out is not "
            "supported");
  std::vector<SubgroupSpec> many;
  for (int i = 0; i < 3000; ++i) many.push_back(subgroup_of("s" + std::to_string(i), 1));
  EXPECT_EQ(asked(with(many), none), "more than 2000 subgroups");
}

// The planner does what the request says: three racks of two nodes hold the parameter server
// and two partitions of three.
TEST(GangRequest, ThePlannerKeepsPartitionsTogether) {
  GangSpec spec;
  spec.roles = {role_of("ps", 1), role_of("w", 6, 4)};
  spec.roles[1].partition = domain::Partition{2, 3, 2, wish_of({"rack"})};
  solver::Fabric fabric(kLevels.size());
  for (int i = 0; i < 6; ++i) {
    const std::string name = "n" + std::to_string(i);
    const auto node = fabric.add(name, {"b", "r" + std::to_string(i / 2), name});
    fabric.set_free(*node, 8);
  }
  const auto gang = gang_of(spec, members_of({}), kLevels, by_label);
  ASSERT_TRUE(gang.ok()) << gang.error().text();
  const domain::Plan plan = solver::plan_gang(fabric, kLevels, *gang);
  ASSERT_TRUE(plan.fits) << plan.reason;
  std::map<int, std::set<int>> racks;  // by partition; -1: the parameter server
  std::map<int, int> pods;
  for (const domain::PlannedPod& pod : plan.pods) {
    const int partition = pod.pod == 0 ? -1 : (pod.pod - 1) / 2;
    racks[partition].insert(static_cast<int>(pod.node) / 2);
    ++pods[partition];
  }
  EXPECT_EQ(pods[-1], 1);
  int whole = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(pods[i], testing::AnyOf(0, 2));
    if (pods[i] == 0) continue;
    ++whole;
    EXPECT_EQ(racks[i].size(), 1U);
  }
  EXPECT_EQ(whole, 2);
}

TEST(GangRequest, VendorKeys) {
  GangSpec spec;
  spec.roles = {role_of("master", 1), role_of("worker", 3)};
  spec.topology.ascend = domain::AscendRequest{};
  spec.topology.ascend->sp_block = 16;
  const GangMembers members = members_of({});
  const auto gang = gang_of(spec, members, {"super-pod", "hostname"}, {});
  ASSERT_TRUE(gang.ok()) << gang.error().text();
  const auto job = vendor_job_of(spec, members, *gang, {"super-pod", "hostname"});
  ASSERT_TRUE(job.ok() && *job);
  EXPECT_EQ((*job)->pods, 4);
  EXPECT_EQ((*job)->chips_per_pod, 8);
  EXPECT_EQ((*job)->levels.super_pod, 0);
  EXPECT_EQ((*job)->ascend->sp_block, 16);
  EXPECT_FALSE((*job)->tor);
  spec.roles[1].minimum = 2;
  const auto elastic = gang_of(spec, members, {"super-pod", "hostname"}, {});
  ASSERT_TRUE(elastic.ok());
  EXPECT_FALSE(vendor_job_of(spec, members, *elastic, {"super-pod", "hostname"}).ok());
  const auto none = vendor_job_of({}, members, *elastic, {});
  EXPECT_TRUE(none.ok() && !*none);
}

}  // namespace
}  // namespace chipweave::sched
