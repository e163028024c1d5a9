#include "node-agent/publish/node/node_keeper.hpp"

#include <utility>

namespace chipweave::agent {
namespace {

using kube::kConflict;
using kube::kNotFound;

kube::Reflector<codec::KubeNodeMetadata>::Options watch_options(const std::string& node) {
  kube::Reflector<codec::KubeNodeMetadata>::Options out;
  out.path = "/api/v1/nodes";
  out.selector = "fieldSelector=metadata.name%3D" + node;
  out.metadata_only = true;  // only labels and annotations are read
  return out;
}

}  // namespace

NodeKeeper::NodeKeeper(kube::Transport& transport, Options options, Events events)
    : transport_(transport),
      options_(std::move(options)),
      events_(std::move(events)),
      chain_(transport, options_.chain,
             {[this] { look(); }, [this](bool yes) { events_.works(yes); }}),
      pace_(options_.write_gap),
      random_(options_.chain.seed),
      path_("/api/v1/nodes/" + options_.node) {}

void NodeKeeper::start() {
  watch_.emplace(
      transport_, watch_options(options_.node),
      kube::Reflector<codec::KubeNodeMetadata>::Events{
          {[this](codec::KubeNodeMetadata&& node) { seen(std::move(node)); },
           [this](const std::string&) { node_.reset(); }},
          [this] {
            if (events_.listed) events_.listed();
          },
          [this](const kube::WatchFailure& failure) { chain_.note("watch: " + failure.what); }},
      [this] { return std::uniform_real_distribution<double>(0, 1)(random_); });
  watch_->start();
}

void NodeKeeper::stop() {
  watch_.reset();
  node_.reset();
  chain_.stop();
}

void NodeKeeper::want(NodeMetadata wanted) {
  wanted_ = std::move(wanted);
  if (!busy_) step();
}

void NodeKeeper::carried_out(const std::string& annotation, const std::string& value) {
  done_[annotation] = value;
  if (!busy_) step();
}

void NodeKeeper::seen(codec::KubeNodeMetadata node) {
  // A proxy or server that ignores the selector sends all nodes.
  if (node.name != options_.node) return;
  node_ = std::move(node);
  for (auto it = done_.begin(); it != done_.end();) {
    const auto there = node_->annotations.find(it->first);
    const bool gone = there == node_->annotations.end() || there->second != it->second;
    it = gone ? done_.erase(it) : std::next(it);
  }
  // So that everything that the owner changes in response goes into one patch.
  const bool was_busy = std::exchange(busy_, true);
  if (events_.seen) events_.seen(*node_);
  busy_ = was_busy;
  if (!busy_) step();
}

void NodeKeeper::look() {
  busy_ = true;
  kube::Call call;
  call.target = path_;
  chain_.send(std::move(call), [this](Result<kube::Reply> reply) {
    if (chain_.failed("cannot read it", reply, {kNotFound})) return;
    if (reply->status == kNotFound) {
      node_.reset();
    } else if (!take(std::move(reply->body))) {
      return;
    }
    step();
  });
}

void NodeKeeper::step() {
  busy_ = false;
  if (!node_) return;  // the watch reports it when it appears
  const MetadataPlan plan = plan_metadata(*node_, wanted_, done_);
  for (const std::string& each : plan.foreign) {
    chain_.note(each + " belongs to another owner and is left unchanged");
  }
  if (plan.changes.none()) return chain_.succeeded();
  busy_ = true;
  const auto left = pace_.left(transport_.now());
  if (left > std::chrono::milliseconds(0)) return chain_.wait(left, [this] { step(); });
  pace_.sent(transport_.now());
  patch(plan.changes);
}

void NodeKeeper::patch(const codec::ObjectChanges& changes) {
  kube::Call call;
  call.method = "PATCH";
  call.target = path_;
  call.body = codec::write_merge_patch({node_->uid, node_->resource_version}, changes);
  call.content_type = "application/merge-patch+json";
  chain_.send(std::move(call),
              [this, changes](Result<kube::Reply> reply) { patched(std::move(reply), changes); });
}

void NodeKeeper::patched(Result<kube::Reply> reply, const codec::ObjectChanges& changes) {
  if (chain_.failed("cannot write it", reply, {kNotFound, kConflict})) return;
  if (reply->status == kNotFound || reply->status == kConflict) return chain_.look_again();
  if (!take(std::move(reply->body))) return;
  // An admission controller undoes the change: do not write it again every second.
  if (node_ && plan_metadata(*node_, wanted_, done_).changes == changes) {
    return chain_.refused("the API server stored other labels or annotations than the agent wrote");
  }
  step();
}

bool NodeKeeper::take(std::string body) {
  auto node = reader_.read_one(body);
  if (!node || node->name != options_.node) {
    chain_.refused("unexpected answer of the API server: " +
                   (node ? "it is about another node" : node.error().text()));
    return false;
  }
  // Reaches seen() unless the watch has already delivered a later version.
  if (watch_) watch_->note(std::move(node).value());
  return true;
}

}  // namespace chipweave::agent
