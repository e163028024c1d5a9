#include "common/kube/mirror.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace chipweave::kube {
namespace {

using codec::KubePod;

KubePod pod(const std::string& name, const std::string& uid, const std::string& version) {
  KubePod p;
  p.ns = "ns";
  p.name = name;
  p.uid = uid;
  p.resource_version = version;
  return p;
}

class Copy : public testing::Test {
 protected:
  std::vector<std::string> take() { return std::exchange(changes_, {}); }
  std::vector<std::string> changes_;
  Mirror<KubePod> mirror_{
      {[this](KubePod&& p) { changes_.push_back(p.uid + "@" + p.resource_version); },
       [this](const std::string& key) { changes_.push_back("-" + key); }}};
};

using Changes = std::vector<std::string>;

TEST_F(Copy, TellsWhatChangedOnly) {
  mirror_.put(pod("a", "u1", "1"), 1);
  EXPECT_EQ(take(), Changes{"u1@1"});
  mirror_.put(pod("a", "u1", "1"), 1);  // delivered twice
  EXPECT_EQ(take(), Changes{});
  mirror_.put(pod("a", "u1", "2"), 1);
  EXPECT_EQ(take(), Changes{"u1@2"});
  mirror_.remove(pod("a", "u1", "3"));
  EXPECT_EQ(take(), Changes{"-ns/a"});
  mirror_.remove(pod("a", "u1", "3"));
  EXPECT_EQ(take(), Changes{});
  EXPECT_EQ(mirror_.size(), 0U);
}

TEST_F(Copy, AnObjectMadeAnewUnderItsNameIsAnotherOne) {
  mirror_.put(pod("a", "u1", "1"), 1);
  take();
  mirror_.put(pod("a", "u2", "5"), 1);
  EXPECT_EQ(take(), (Changes{"-ns/a", "u2@5"}));
  mirror_.remove(pod("a", "u1", "6"));  // a late deletion of the old pod
  EXPECT_EQ(take(), Changes{});
  EXPECT_EQ(mirror_.size(), 1U);
}

TEST_F(Copy, OldNewsIsNone) {
  mirror_.put(pod("a", "u2", "10"), 1);  // from another source; the watch lags behind
  take();
  mirror_.put(pod("a", "u1", "7"), 1);
  mirror_.put(pod("a", "u1", "9"), 1);
  mirror_.remove(pod("a", "u1", "9"));
  mirror_.put(pod("a", "u2", "10"), 1);
  EXPECT_EQ(take(), Changes{});
  mirror_.put(pod("a", "u2", "11"), 1);
  EXPECT_EQ(take(), Changes{"u2@11"});
  mirror_.put(pod("a", "u3", "4"), 2);  // a new list is authoritative: a backup was restored
  EXPECT_EQ(take(), (Changes{"-ns/a", "u3@4"}));
  mirror_.put(pod("a", "u4", "x"), 2);  // and so are versions that cannot be compared
  mirror_.put(pod("a", "u5", "3"), 2);
  EXPECT_EQ(take(), (Changes{"-ns/a", "u4@x", "-ns/a", "u5@3"}));
}

TEST_F(Copy, WhatAWholeListDoesNotHoldIsGone) {
  for (const char* name : {"a", "b", "c"}) mirror_.put(pod(name, name, "1"), 1);
  take();
  mirror_.put(pod("b", "b", "1"), 2);
  mirror_.put(pod("d", "d", "4"), 2);
  EXPECT_EQ(take(), Changes{"d@4"});
  mirror_.sweep(2, "4");
  Changes gone = take();
  std::sort(gone.begin(), gone.end());
  EXPECT_EQ(gone, (Changes{"-ns/a", "-ns/c"}));
  EXPECT_EQ(mirror_.size(), 2U);
}

// Each pod is read separately while the second list, of version 10, is in progress.
TEST_F(Copy, WhatWasReadByItselfStaysIfTheListHoldsItOrItIsNewer) {
  mirror_.put(pod("known", "k", "1"), 1);
  mirror_.put(pod("listed", "l", "2"), 1);
  mirror_.note(pod("known", "k", "7"), 2);
  mirror_.note(pod("unknown", "u", "8"), 2);
  mirror_.note(pod("at", "t", "10"), 2);
  mirror_.note(pod("newer", "n", "11"), 2);
  mirror_.put(pod("listed", "l", "2"), 2);
  mirror_.note(pod("listed", "l", "2"), 2);
  mirror_.note(pod("first noted", "f", "3"), 2);
  mirror_.put(pod("first noted", "f", "3"), 2);
  take();
  mirror_.sweep(2, "10");
  Changes gone = take();
  std::sort(gone.begin(), gone.end());
  EXPECT_EQ(gone, (Changes{"-ns/at", "-ns/known", "-ns/unknown"}));
  EXPECT_EQ(mirror_.size(), 3U);
}

TEST_F(Copy, ListsOfTheSameObjectsReportNothing) {
  for (const char* name : {"a", "b"}) mirror_.put(pod(name, name, "1"), 1);
  mirror_.note(pod("b", "b", "5"), 1);
  mirror_.note(pod("c", "c", "6"), 1);  // the watch is behind
  take();
  for (std::uint64_t round = 2; round < 5; ++round) {
    for (const auto& [name, version] : {std::pair{"a", "1"}, {"b", "5"}, {"c", "6"}})
      mirror_.put(pod(name, name, version), round);
    mirror_.sweep(round, "9");
  }
  EXPECT_EQ(take(), Changes{});
  EXPECT_EQ(mirror_.size(), 3U);
  mirror_.sweep(5, "9");  // an empty list
  EXPECT_EQ(take().size(), 3U);
  EXPECT_EQ(mirror_.size(), 0U);
}

}  // namespace
}  // namespace chipweave::kube
