// BusyClock and KeptReply — for tests of answers in slices: time passes with every look at the
// clock, and later answers are kept.
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/http/server.hpp"

namespace chipweave::sched::test {

// Every look at it takes 1 ms.
class BusyClock final : public Clock {
 public:
  Steady now() const override { return now_ += std::chrono::milliseconds(1); }
  Wall wall() const override { return {}; }

 private:
  mutable Steady now_{};
};

class KeptReply final : public http::PendingReply {
 public:
  explicit KeptReply(std::vector<http::Response>& to) : replies_(to) {}
  void send(http::Response response) override { replies_.push_back(std::move(response)); }

 private:
  std::vector<http::Response>& replies_;
};

}  // namespace chipweave::sched::test
