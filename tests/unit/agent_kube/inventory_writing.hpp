// InventoryWriting — a writer; the test plays its server and answers each request, or does not.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

#include "node-agent/publish/kube/inventory_writer.hpp"
#include "tests/fakes/agent/api_answers.hpp"
#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::agent {

using domain::Health;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline const std::string kObject = "/apis/chipweave.dev/v1alpha1/nodeinventories/n1";
inline const std::string kCreate = "POST /apis/chipweave.dev/v1alpha1/nodeinventories";
inline const std::string kWrite = "PUT " + kObject + "/status";

class InventoryWriting : public testing::Test {
 protected:
  InventoryWriting() : writer_(make()) { writer_->want(state(), true); }

  std::unique_ptr<InventoryWriter> make() {
    InventoryWriter::Options options;
    options.node = "n1";
    options.boot_id = "b1";
    options.chain.what = "inventory of node n1";
    auto out = std::make_unique<InventoryWriter>(
        server_, options,
        InventoryWriter::Events{[this] { ++written_; }, [this](bool yes) { works_ = yes; }});
    out->release();
    return out;
  }
  // Runs up to the first write, of a newly created object.
  void begin() {
    writer_->start();
    server_.reply(404, failure(404, "not found"));
    server_.reply(200, kNode);
    server_.reply(201, object("1", "", 0));
    ASSERT_EQ(server_.target, kWrite);
  }
  void begin_and_rest() {
    begin();
    server_.reply(200, object("2", "b1", 1));
    ASSERT_TRUE(resting());
  }
  // The periodic check waits half a minute to a minute.
  bool resting() const {
    return server_.on_time != nullptr && server_.waiting >= milliseconds(30'000) && works_;
  }
  void expect_backoff(milliseconds most) const {
    ASSERT_NE(server_.on_time, nullptr) << server_.target;
    EXPECT_LE(server_.waiting, most);
    EXPECT_GE(server_.waiting, milliseconds(50));
    EXPECT_FALSE(works_);
  }
  nlohmann::json sent() const { return nlohmann::json::parse(server_.body); }

  kube::ScriptedTransport server_;
  int written_ = 0;
  bool works_ = false;
  std::unique_ptr<InventoryWriter> writer_;
};

}  // namespace chipweave::agent
