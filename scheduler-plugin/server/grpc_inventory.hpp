// InventoryService — agents' report streams: one read, one decision, one ack at a time, so that a
// peer that sends faster than the loop decides is slowed down by flow control instead of filling
// memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "chipweave/v1/inventory.grpc.pb.h"
#include "scheduler-plugin/server/grpc_calls.hpp"

namespace chipweave::sched {

// Which stream reports which node. Loop thread only. A node belongs to the stream of its last full
// report, so that the end of a reconnected agent's old stream does not make the node stale.
class NodeOwners {
 public:
  explicit NodeOwners(std::size_t max_nodes) : max_nodes_(max_nodes) {}
  struct Owner {
    std::uint64_t stream = 0;
    std::string boot_id;
  };
  // Whether `node` would exceed the limit.
  bool full(const std::string& node) const;
  void take(const std::string& node, std::uint64_t stream, const std::string& boot_id);
  const Owner* find(const std::string& node) const;
  // Removes and returns the stream's nodes: node → boot id.
  std::map<std::string, std::string> leave(std::uint64_t stream);

 private:
  std::size_t max_nodes_;
  std::unordered_map<std::string, Owner> owners_;
  std::unordered_map<std::uint64_t, std::map<std::string, std::string>> of_stream_;
};

class InventoryService final : public v1::Inventory::CallbackService {
 public:
  explicit InventoryService(std::shared_ptr<LiveCalls> calls);
  grpc::ServerBidiReactor<v1::InventoryReport, v1::ReportAck>* Report(
      grpc::CallbackServerContext* context) override;

 private:
  std::shared_ptr<LiveCalls> calls_;
  std::shared_ptr<NodeOwners> owners_;
  std::atomic<std::uint64_t> streams_{0};
};

}  // namespace chipweave::sched
