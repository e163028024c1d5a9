// InventoryWriter — keeps the NodeInventory object of this node up to date.
//
// Reads the object, which is the memory of the agent's previous run; creates it where it is
// missing, owned by the Node so that it is removed with it; writes the newest state as a whole;
// then checks once a minute whether the object still carries this agent's boot and sequence, so
// that one that was deleted or overwritten is restored. Written by PUT with the resourceVersion
// that was read: a PUT replaces, where a merge patch would leave optional keys behind (the
// host_gbps, rule or partitions of another machine), and a foreign writer causes a conflict instead
// of a mix. Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/objects/stored_object.hpp"
#include "common/domain/remembered_node.hpp"
#include "common/kube/api_chain.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

class InventoryWriter {
 public:
  struct Options {
    std::string node;  // a DNS subdomain, checked before
    std::string boot_id;
    std::string node_boot_id;                       // the kernel's; "": unknown
    std::chrono::milliseconds check_every{60'000};  // with jitter: between half of it and all of it
    std::chrono::milliseconds between_writes{1'000};
    kube::ApiChain::Options chain;
  };
  struct Events {
    std::function<void()> written;    // a state was stored
    std::function<void(bool)> works;  // true: the object is up to date
    // What the object says when it is first read, possibly nothing; once, before the first write.
    // May be empty.
    std::function<void(domain::RememberedNode)> remembered = nullptr;
  };
  InventoryWriter(kube::Transport& transport, Options options, Events events);
  InventoryWriter(const InventoryWriter&) = delete;
  InventoryWriter& operator=(const InventoryWriter&) = delete;

  // Written at once if urgent, else a second after the last write; but never while a request is in
  // flight or during the back-off after a failure.
  void want(NodeStatePtr state, bool urgent);
  // Reads the object, for what it remembers.
  void start() { read(Freshness::newest); }
  // From now on it may be written.
  void release();
  void stop();

 private:
  // any: from the server's cache, which may be old, without a read of its storage.
  enum class Freshness { newest, any };

  void read(Freshness freshness);
  void on_read(Result<kube::Reply> reply);
  void step();
  void ask_node();
  void node_answered(Result<kube::Reply> reply);
  void create();
  void write();
  void written(Result<kube::Reply> reply, std::int64_t sequence);
  void set_owner();
  std::chrono::milliseconds too_early() const;
  void rest();
  // body: of the object; nullopt: there is none.
  void remember(std::optional<std::string_view> body);
  // False if the object cannot be parsed; a retry is scheduled then.
  bool take(std::string body);
  bool is_ours(std::int64_t sequence) const;

  kube::Transport& transport_;
  Options options_;
  Events events_;
  kube::ApiChain chain_;
  Backoff check_;
  NodeStatePtr wanted_;
  std::int64_t sequence_ = 0;  // of wanted_
  std::string path_;
  std::optional<codec::StoredObject> stored_;  // as last seen
  std::string node_uid_;                       // empty: not known
  bool node_asked_ = false;                    // since the last rest()
  bool published_ = false;                     // at least once
  bool resting_ = false;                       // nothing to do until the next check
  std::optional<std::chrono::steady_clock::time_point> written_at_;
  std::int64_t urgent_ = 0;           // sequence of the newest state that is
  std::int64_t stored_sequence_ = 0;  // of the last write that succeeded
  bool remembered_ = false;
  bool released_ = false;
};

}  // namespace chipweave::agent
