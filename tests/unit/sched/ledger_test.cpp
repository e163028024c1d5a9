// What the ledger does when its callers break its rules.
#include "scheduler-plugin/state/ledger.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace chipweave::sched {
namespace {

Holding holding(const std::string& uid, NodeId node) {
  Holding h;
  h.uid = uid;
  h.node = node;
  h.bound = true;
  return h;
}

TEST(Ledger, WhatCannotBeIsABug) {
  NodeTable nodes;
  Ledger ledger(nodes);
  const NodeId node = nodes.declare("n1");
  ledger.hold_free(holding("u1", node));
  EXPECT_THROW(ledger.hold_free(holding("u1", node)), std::logic_error);
  EXPECT_THROW(ledger.confirm("nobody"), std::logic_error);
  EXPECT_THROW(ledger.reopen("nobody", {}), std::logic_error);
  EXPECT_THROW(ledger.assume("nobody", {}), std::logic_error);
  EXPECT_EQ(ledger.check_invariants(), "");
}

}  // namespace
}  // namespace chipweave::sched
