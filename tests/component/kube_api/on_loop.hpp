// A loop on a thread of its own, and calls on it that a test can wait for.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "common/http/loop.hpp"

namespace chipweave::test {

class OnLoop : public ::testing::Test {
 public:
  OnLoop(const OnLoop&) = delete;
  OnLoop& operator=(const OnLoop&) = delete;
  ~OnLoop() override {
    loop_.stop();
    thread_.join();
  }

 protected:
  OnLoop() : thread_([this] { loop_.run(); }) {}

  // The value; on an error the test fails and the value is empty.
  template <class T>
  T got(std::future<T> from, std::chrono::seconds within = std::chrono::seconds(20)) {
    if (from.wait_for(within) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      return T{};
    }
    return from.get();
  }

  http::Loop loop_;

 private:
  std::thread thread_;
};

}  // namespace chipweave::test
