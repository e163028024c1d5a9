// TwoNodes — a cluster of two alike nodes, n1 and n2. After each test the scheduler must agree with
// the API server, and no chip may have two owners.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {

class TwoNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.add_node("n2", "hgx-v100-8");
    world_.api.settle();
  }
  void TearDown() override {
    world_.come_to_rest();
    world_.expect_ledger_is_the_truth();
    world_.expect_no_chip_twice();
  }
  void create(const std::string& name, int chips) {
    world_.create(name, chips);
    world_.api.settle();
  }
  KubeWorld world_;
};

}  // namespace chipweave::sched::test
