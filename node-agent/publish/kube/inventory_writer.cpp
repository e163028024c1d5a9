#include "node-agent/publish/kube/inventory_writer.hpp"

#include <utility>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/kube/inventory/inventory_health.hpp"

namespace chipweave::agent {
namespace {

using kube::call_of;
using kube::kConflict;
using kube::kForbidden;
using kube::kInvalid;
using kube::kNotFound;
using kube::kOk;

}  // namespace

InventoryWriter::InventoryWriter(kube::Transport& transport, Options options, Events events)
    : transport_(transport),
      options_(std::move(options)),
      events_(std::move(events)),
      chain_(transport, options_.chain,
             {[this] { read(Freshness::newest); }, [this](bool yes) { events_.works(yes); }}),
      check_({options_.check_every, options_.check_every}, Backoff::seeded(options_.chain.seed)),
      path_(codec::kInventoryPath + ("/" + options_.node)) {}

void InventoryWriter::want(NodeStatePtr state, bool urgent) {
  if (state == wanted_) return;
  wanted_ = std::move(state);
  ++sequence_;
  if (urgent) urgent_ = sequence_;
  if (resting_) step();
}

void InventoryWriter::release() {
  released_ = true;
  if (resting_) step();
}

void InventoryWriter::stop() {
  resting_ = false;
  chain_.stop();
}

void InventoryWriter::read(Freshness freshness) {
  resting_ = false;
  chain_.send(call_of("GET", path_ + (freshness == Freshness::any ? "?resourceVersion=0" : ""), ""),
              [this](Result<kube::Reply> reply) { on_read(std::move(reply)); });
}

void InventoryWriter::on_read(Result<kube::Reply> reply) {
  if (chain_.failed("cannot read it", reply, {kNotFound})) return;
  stored_.reset();
  if (reply->status == kNotFound) {
    remember(std::nullopt);
    return step();
  }
  remember(reply->body);
  if (!take(std::move(reply->body))) return;
  if (published_ && stored_->boot_id != options_.boot_id && !stored_->boot_id.empty()) {
    chain_.note("another agent has written it (boot " + stored_->boot_id +
                "): only one may run for this node");
  }
  step();
}

void InventoryWriter::step() {
  resting_ = !released_ || wanted_ == nullptr;
  if (resting_) return;
  if (!stored_) return ask_node();
  if (!is_ours(sequence_)) {
    if (const auto wait = too_early(); wait.count() > 0) {
      resting_ = true;
      return chain_.wait(wait, [this] { step(); });
    }
    return write();
  }
  if (stored_->owners.empty() && !node_asked_) return ask_node();
  rest();
}

// Without an owner the object outlives its Node, which does little harm: so the writer continues
// whatever the answer is, and retries at the next check.
void InventoryWriter::ask_node() {
  node_asked_ = true;
  chain_.send(call_of("GET", "/api/v1/nodes/" + options_.node, ""),
              [this](Result<kube::Reply> reply) { node_answered(std::move(reply)); });
}

void InventoryWriter::node_answered(Result<kube::Reply> reply) {
  if (chain_.failed("cannot read the Node", reply, {kForbidden, kNotFound})) return;
  node_uid_.clear();
  if (reply->status != kOk) {
    chain_.note("it will not be removed with its Node: " + kube::problem_of(reply));
  } else if (const auto node = codec::read_stored_object(reply->body)) {
    node_uid_ = node->version.uid;
  } else {
    chain_.note("it will not be removed with its Node: " + node.error().text());
  }
  if (!stored_) return create();
  node_uid_.empty() ? rest() : set_owner();
}

void InventoryWriter::create() {
  chain_.send(call_of("POST", codec::kInventoryPath,
                      codec::write_inventory_object(options_.node, node_uid_)),
              [this](Result<kube::Reply> reply) {
                if (chain_.failed("cannot create it", reply, {kNotFound, kConflict})) return;
                if (reply->status == kConflict) return chain_.look_again();
                if (reply->status == kNotFound) {
                  return chain_.refused(
                      "the API server knows no nodeinventories.chipweave.dev: install the CRD "
                      "(charts/chipweave/crds)");
                }
                if (take(std::move(reply->body))) step();
              });
}

void InventoryWriter::write() {
  const codec::NodeInventory inventory{
      options_.node,         options_.boot_id,     sequence_,
      wanted_->machine,      wanted_->resources,   wanted_->topology,
      options_.node_boot_id, wanted_->faults,      wanted_->conditions,
      wanted_->neighbours,   wanted_->facts,       wanted_->carried,
      wanted_->given,        wanted_->enforcement, wanted_->gate_open};
  chain_.send(
      call_of("PUT", path_ + "/status", codec::write_inventory_status(inventory, stored_->version)),
      [this, sequence = sequence_](Result<kube::Reply> reply) {
        written(std::move(reply), sequence);
      });
}

void InventoryWriter::written(Result<kube::Reply> reply, std::int64_t sequence) {
  if (chain_.failed("cannot write it", reply, {kNotFound, kConflict})) return;
  if (reply->status != kOk) return chain_.look_again();
  if (!take(std::move(reply->body))) return;
  if (!is_ours(sequence)) {
    return chain_.refused(
        "the API server stored another status than was written: install the CRD of this "
        "version (charts/chipweave/crds)");
  }
  published_ = true;
  written_at_ = transport_.now();
  stored_sequence_ = sequence;
  chain_.succeeded();
  events_.written();
  step();
}

// How long to wait: an unstable machine is written once a second, not at each change.
std::chrono::milliseconds InventoryWriter::too_early() const {
  if (urgent_ > stored_sequence_ || !written_at_) return std::chrono::milliseconds(0);
  return std::chrono::ceil<std::chrono::milliseconds>(*written_at_ + options_.between_writes -
                                                      transport_.now());
}

// Before the first write, the object is that of another run.
void InventoryWriter::remember(std::optional<std::string_view> body) {
  if (std::exchange(remembered_, true) || !events_.remembered) return;
  codec::InventoryMemory memory;
  if (body) memory = codec::read_object_memory(*body, options_.node_boot_id);
  for (const std::string& problem : memory.problems) {
    chain_.note("a part of it cannot be read: " + problem);
  }
  events_.remembered(std::move(memory.node));
}

void InventoryWriter::set_owner() {
  kube::Call call = call_of(
      "PATCH", path_, codec::write_inventory_owner(options_.node, node_uid_, stored_->version));
  call.content_type = "application/merge-patch+json";
  chain_.send(std::move(call), [this](Result<kube::Reply> reply) {
    if (chain_.failed("cannot set its owner", reply, {kForbidden, kNotFound, kConflict, kInvalid}))
      return;
    if (reply->status == kNotFound || reply->status == kConflict) return chain_.look_again();
    if (reply->status == kOk) {
      if (take(std::move(reply->body))) step();
      return;
    }
    chain_.note("it will not be removed with its Node: " + kube::problem_of(reply));
    rest();
  });
}

void InventoryWriter::rest() {
  if (!is_ours(sequence_)) return step();  // a new state came while the owner was set
  chain_.succeeded();
  resting_ = true;
  chain_.wait(check_.next(), [this] {
    node_asked_ = false;
    read(Freshness::any);
  });
}

bool InventoryWriter::take(std::string body) {
  auto object = codec::read_stored_object(body);
  if (!object) {
    stored_.reset();
    chain_.refused("unexpected answer of the API server: " + object.error().text());
    return false;
  }
  stored_ = std::move(object).value();
  return true;
}

bool InventoryWriter::is_ours(std::int64_t sequence) const {
  return stored_->boot_id == options_.boot_id && stored_->sequence == sequence;
}

}  // namespace chipweave::agent
