// The prepared claims over restarts, kills, full disks and damaged files.
#include "node-agent/dra/claims/claim_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "node-agent/dra/claims/cdi_spec.hpp"
#include "tests/unit/agent_dra/machine.hpp"
#include "tests/unit/agent_dra/memory_files.hpp"

namespace chipweave::agent::dra {
namespace {

using testing::HasSubstr;

const std::string kCheckpoint = "/state/prepared-claims.json";
const std::string kCdi = "/cdi";

codec::PreparedClaim claim_of(const std::string& uid, const std::vector<int>& chips) {
  codec::PreparedClaim out{"team", "claim-" + uid, uid, {}};
  for (const int chip : chips) {
    const std::string n = std::to_string(chip);
    out.devices.push_back({"a",
                           kNode,
                           "gpu-" + n,
                           "GPU-" + n,
                           {"CHIPWEAVE_CHIP_" + n + "=GPU-" + n},
                           {{"/dev/nvidia" + n, ""}},
                           {}});
  }
  return out;
}

std::string cdi_of(const std::string& uid) { return kCdi + "/" + cdi_file_name(kDriver, uid); }

class ClaimStoreTest : public testing::Test {
 protected:
  ClaimStore opened() { return ClaimStore(files_, {kDriver, kNode, kCheckpoint, kCdi}); }
  static std::string text_of(const Result<const codec::PreparedClaim*>& result) {
    return result ? "prepared" : result.error().text();
  }
  static std::string text_of(const Result<void>& result) {
    return result ? "done" : result.error().text();
  }

  MemoryFiles files_;
};

TEST_F(ClaimStoreTest, PreparesAndEndsAnyNumberOfTimes) {
  ClaimStore store = opened();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(text_of(store.prepare(claim_of("u1", {0, 1}))), "prepared");
  EXPECT_EQ(files_.writes, 2);  // the checkpoint and the CDI file, once
  EXPECT_EQ(files_.files.at(cdi_of("u1")), write_cdi_spec(kDriver, claim_of("u1", {0, 1})));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text_of(store.unprepare("u1")), "done");
  EXPECT_EQ(text_of(store.unprepare("never-prepared")), "done");
  EXPECT_FALSE(files_.files.contains(cdi_of("u1")));
  EXPECT_EQ(text_of(store.prepare(claim_of("u2", {1}))), "prepared");
}

TEST_F(ClaimStoreTest, GivesNoDeviceAndNoChipTwice) {
  ClaimStore store = opened();
  ASSERT_TRUE(store.prepare(claim_of("u1", {0, 1})).ok());
  EXPECT_THAT(text_of(store.prepare(claim_of("u2", {1, 2}))),
              HasSubstr("device gpu-1 is prepared for the claim team/claim-u1 (u1)"));
  // The chip has another name by now.
  codec::PreparedClaim renamed = claim_of("u2", {5});
  renamed.devices[0].chip = "GPU-0";
  EXPECT_THAT(text_of(store.prepare(renamed)), HasSubstr("is prepared for the claim"));
  EXPECT_THAT(text_of(store.prepare(claim_of("u1", {0, 2}))), HasSubstr("other devices"));
  EXPECT_EQ(text_of(store.prepare(claim_of("u2", {2, 3}))), "prepared");
}

TEST_F(ClaimStoreTest, GivesNoDeviceTwiceWhoseChipIsNotKnown) {
  codec::PreparedClaim first = claim_of("u1", {0});
  codec::PreparedClaim second = claim_of("u2", {0});
  first.devices[0].chip.clear();
  second.devices[0].chip.clear();
  ClaimStore store = opened();
  ASSERT_TRUE(store.prepare(first).ok());
  EXPECT_THAT(text_of(store.prepare(second)), HasSubstr("is prepared for the claim"));
  second.devices[0].device = "gpu-1";
  EXPECT_EQ(text_of(store.prepare(second)), "prepared");
}

TEST_F(ClaimStoreTest, KeepsWhatAPreparedClaimHas) {
  ClaimStore store = opened();
  ASSERT_TRUE(store.prepare(claim_of("u1", {0})).ok());
  codec::PreparedClaim again = claim_of("u1", {0});
  again.devices[0].nodes = {{"/dev/nvidia7", ""}};  // the driver was loaded again
  EXPECT_EQ((*store.prepare(again))->devices[0].nodes[0].path, "/dev/nvidia0");
}

TEST_F(ClaimStoreTest, WritesFilesAgainThatAreGoneAndDeletesStrangeOnes) {
  ASSERT_TRUE(opened().prepare(claim_of("u1", {0})).ok());
  const auto before = files_.files;
  files_.files.erase(cdi_of("u1"));  // a reboot empties /run
  files_.files[cdi_of("u9")] = "{}";
  files_.files[cdi_of("u1") + ".Ab12Cd"] = "{";
  files_.files[kCdi + "/nvidia.json"] = "of others";
  ClaimStore store = opened();
  EXPECT_EQ(text_of(store.load()), "done");
  auto expected = before;
  expected[kCdi + "/nvidia.json"] = "of others";
  EXPECT_EQ(files_.files, expected);
}

TEST_F(ClaimStoreTest, RefusesUidsThatAreNoFileNames) {
  ClaimStore store = opened();
  for (const char* uid : {"", "../x", "a/b", "a.b", "-a"}) {
    EXPECT_FALSE(store.prepare(claim_of(uid, {0})).ok()) << uid;
    EXPECT_EQ(text_of(store.unprepare(uid)), "done") << uid;  // nothing of that name is prepared
  }
  EXPECT_TRUE(files_.files.empty());
}

TEST_F(ClaimStoreTest, AFullDiskIsAnErrorAndNothingIsLost) {
  ClaimStore store = opened();
  ASSERT_TRUE(store.prepare(claim_of("u1", {0})).ok());
  files_.full = true;
  EXPECT_THAT(text_of(store.prepare(claim_of("u2", {1}))), HasSubstr("No space left on device"));
  EXPECT_THAT(text_of(store.unprepare("u1")), HasSubstr("No space left on device"));
  EXPECT_THAT(text_of(store.prepare(claim_of("u3", {0}))), HasSubstr("is prepared for the claim"));
  files_.full = false;
  EXPECT_EQ(text_of(store.prepare(claim_of("u2", {1}))), "prepared");
  EXPECT_EQ(text_of(store.unprepare("u1")), "done");
  EXPECT_EQ(text_of(store.prepare(claim_of("u3", {0}))), "prepared");
}

TEST_F(ClaimStoreTest, ADamagedCheckpointStopsEverythingAndSaysSo) {
  ASSERT_TRUE(opened().prepare(claim_of("u1", {0, 1})).ok());
  const std::string good = files_.files.at(kCheckpoint);
  std::vector<std::string> bad = {"", "{}", "[]", good + good};
  for (std::size_t cut = 1; cut + 1 < good.size(); cut += 7) bad.push_back(good.substr(0, cut));
  for (std::size_t at = 0; at + 1 < good.size(); ++at) {
    bad.push_back(good);
    bad.back()[at] = bad.back()[at] == '0' ? '1' : '0';
  }
  for (const std::string& text : bad) {
    files_.files[kCheckpoint] = text;
    ClaimStore store = opened();
    const std::string why = text_of(store.load());
    ASSERT_THAT(why, HasSubstr("the checkpoint of prepared claims cannot be used")) << text;
    EXPECT_THAT(why, HasSubstr("drain the node"));
    EXPECT_EQ(text_of(store.prepare(claim_of("u2", {2}))), why);
    EXPECT_EQ(text_of(store.unprepare("u1")), why);
    EXPECT_EQ(files_.files.at(kCheckpoint), text);
    EXPECT_TRUE(files_.files.contains(cdi_of("u1")));
    // Mended by the operator, without a restart.
    files_.files[kCheckpoint] = good;
    EXPECT_EQ(text_of(store.prepare(claim_of("u1", {0, 1}))), "prepared");
  }
}

TEST_F(ClaimStoreTest, ACheckpointOfAnotherNodeDriverOrVersionIsRefused) {
  codec::PreparedClaims other{kDriver, "n2", {}};
  files_.files[kCheckpoint] = codec::write_prepared_claims(other);
  EXPECT_THAT(text_of(opened().load()), HasSubstr("it is of driver gpu.chipweave.dev on node n2"));
  files_.files[kCheckpoint] = R"({"version":2,"more":[]})";
  EXPECT_THAT(text_of(opened().load()),
              HasSubstr("it has version 2, and this agent reads version 1"));
  other = {kDriver, kNode, {{"u1", claim_of("u1", {0})}, {"u2", claim_of("u2", {0})}}};
  files_.files[kCheckpoint] = codec::write_prepared_claims(other);
  EXPECT_THAT(text_of(opened().load()), HasSubstr("twice"));
}

// The kubelet's view of one claim: it repeats a call until it has an answer.
struct Asked {
  std::vector<int> chips;
  bool wanted = true;  // prepared, or ended
};

// Kills at random points, between any two changes of files and before or after each; the kubelet
// repeats what was not answered. No chip is ever in two claims, files and checkpoint say the same
// once the driver is there again, and in the end nothing is left.
TEST_F(ClaimStoreTest, HealsAfterAKillBetweenAnyTwoSteps) {
  int kills = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    files_.files.clear();
    files_.kill_in = -1;
    std::map<std::string, Asked> asked;
    std::set<std::string> answered;  // prepared, by an answer that the kubelet got
    auto store = std::make_unique<ClaimStore>(opened());
    const auto attempt = [&](const auto& act) {
      files_.kill_in = random() % 2 == 0 ? static_cast<int>(random() % 4) : -1;
      files_.kill_before = random() % 2 == 0;
      files_.full = random() % 8 == 0;
      bool answer = false;
      try {
        answer = act();
      } catch (const Killed&) {
        ++kills;
        store = std::make_unique<ClaimStore>(opened());
      }
      files_.kill_in = -1;
      files_.full = false;
      return answer;
    };
    const auto check = [&] {
      ClaimStore after = opened();
      ASSERT_EQ(text_of(after.load()), "done");
      std::set<std::string> devices;
      std::size_t files = 1;
      for (const auto& [uid, claim] : after.claims()->claims) {
        ++files;
        ASSERT_EQ(files_.files.at(cdi_of(uid)), write_cdi_spec(kDriver, claim));
        for (const auto& device : claim.devices) ASSERT_TRUE(devices.insert(device.device).second);
      }
      ASSERT_LE(files_.files.size(), files);  // no checkpoint before the first claim
      for (const std::string& uid : answered) {
        ASSERT_TRUE(after.claims()->claims.contains(uid)) << uid;
        ASSERT_EQ(after.claims()->claims.at(uid), claim_of(uid, asked.at(uid).chips));
      }
    };
    for (int step = 0; step < 12; ++step) {
      const std::string uid = "u" + std::to_string(random() % 4);
      if (random() % 3 != 0) {
        if (!asked.contains(uid)) {
          std::set<int> chips;
          for (unsigned k = 0; k <= random() % 3; ++k) chips.insert(static_cast<int>(random() % 6));
          asked[uid] = {{chips.begin(), chips.end()}};
        }
        if (!asked[uid].wanted) continue;  // a claim that ended does not come back
        if (attempt([&] { return store->prepare(claim_of(uid, asked[uid].chips)).ok(); }))
          answered.insert(uid);
      } else if (asked.contains(uid)) {
        asked[uid].wanted = false;
        answered.erase(uid);
        attempt([&] { return store->unprepare(uid).ok(); });
      }
      check();
      if (HasFatalFailure()) return;
    }
    for (const auto& [uid, one] : asked) ASSERT_EQ(text_of(store->unprepare(uid)), "done");
    for (const auto& [path, content] : files_.files)
      ASSERT_EQ(content, codec::write_prepared_claims({kDriver, kNode, {}})) << path;
  }
  EXPECT_GT(kills, 2000);
}

}  // namespace
}  // namespace chipweave::agent::dra
