// RealApi — calls to the API server of a running testbed, as its administrator. Tests are skipped
// where none runs.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/api_client.hpp"
#include "tests/component/kube_api/on_loop.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::test {

class RealApi : public OnLoop {
 protected:
  using Json = nlohmann::json;

  // Without a testbed client_ stays null, and the derived SetUp and TearDown must do nothing.
  void SetUp() override {
    const auto testbed = kube::process_environment()("CHIPWEAVE_TESTBED");
    if (!testbed) GTEST_SKIP() << "no testbed runs: eval \"$(scripts/testbed up)\" starts one";
    testbed_ = *testbed;
    auto access = kube::load_access({testbed_ + "/kubeconfig", ""}, kube::process_environment());
    ASSERT_TRUE(access.ok()) << access.error().text();
    post_and_wait(loop_, [&] {
      client_ = std::move(kube::ApiClient::make(loop_, *access, "chipweave-e2e").value());
    });
  }
  void TearDown() override {
    if (client_ == nullptr) return;
    post_and_wait(loop_, [this] {
      tickets_.clear();
      client_.reset();
    });
  }

  // Status and body.
  std::pair<int, Json> send(const std::string& method, const std::string& target,
                            const Json& body) {
    std::promise<std::pair<int, std::string>> promise;
    auto future = promise.get_future();
    loop_.post([&] {
      kube::Call call;
      call.method = method;
      call.target = target;
      if (!body.is_null()) call.body = body.dump();
      tickets_.push_back(client_->call(std::move(call), [&promise](const Result<kube::Reply>& r) {
        promise.set_value(r ? std::pair(r->status, r->body) : std::pair(0, r.error().text()));
      }));
    });
    auto [status, text] = got(std::move(future));
    return {status, Json::parse(text, nullptr, false)};
  }

  std::string testbed_;  // its data folder
  std::unique_ptr<kube::ApiClient> client_;
  std::vector<std::unique_ptr<kube::Ticket>> tickets_;
};

}  // namespace chipweave::test
