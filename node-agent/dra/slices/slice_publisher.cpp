#include "node-agent/dra/slices/slice_publisher.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/obs/log.hpp"
#include "node-agent/dra/slices/exclusion.hpp"

namespace chipweave::agent::dra {
namespace {

using codec::ResourceSlice;

const std::string kSlices = "/apis/resource.k8s.io/v1/resourceslices";

std::string of_node(const std::string& node) { return "fieldSelector=spec.nodeName%3D" + node; }

kube::ApiChain::Options chain_options(const SlicePublisher::Options& options) {
  kube::ApiChain::Options out;
  out.what = "ResourceSlices of node " + options.pool.node;
  out.seed = options.seed;
  return out;
}

// Names and versions are enough to see that something has changed.
kube::Reflector<codec::KubeSlice>::Options watch_options(const std::string& node) {
  kube::Reflector<codec::KubeSlice>::Options out;
  out.path = kSlices;
  out.selector = of_node(node);
  out.metadata_only = true;
  return out;
}

}  // namespace

SlicePublisher::SlicePublisher(kube::Transport& transport, const HostDevices& host, Options options,
                               Events events)
    : transport_(transport),
      host_(host),
      options_(std::move(options)),
      events_(std::move(events)),
      chain_(transport, chain_options(options_),
             {[this] { look(); },
              [this](bool yes) {
                if (events_.works) events_.works(yes);
              }}),
      random_(options_.seed),
      watch_(transport, watch_options(options_.pool.node),
             {{[this](codec::KubeSlice&& slice) { seen(slice); },
               [this](const std::string& name) { gone(name); }},
              [] {},
              // The next round of reads fails as well, and logs the reason.
              [](const kube::WatchFailure&) {}},
             [this] { return std::uniform_real_distribution<double>(0, 1)(random_); }) {}

void SlicePublisher::want(NodeStatePtr state) {
  const bool first = std::exchange(state_, std::move(state)) == nullptr;
  if (first) {
    if (options_.watch) watch_.start();
    return look();
  }
  news();
}

void SlicePublisher::stop() {
  phase_ = Phase::stopped;
  chain_.stop();
}

void SlicePublisher::news() {
  again_ = true;
  if (phase_ == Phase::resting) look();
}

void SlicePublisher::seen(const codec::KubeSlice& slice) {
  const bool known = std::any_of(all_.begin(), all_.end(), [&](const ResourceSlice& each) {
    return each.name == slice.name && each.version.resource_version == slice.resource_version;
  });
  if (!known) news();
}

void SlicePublisher::gone(const std::string& name) {
  const bool known = std::any_of(all_.begin(), all_.end(),
                                 [&](const ResourceSlice& each) { return each.name == name; });
  if (known) news();
}

void SlicePublisher::look() {
  phase_ = Phase::busy;
  again_ = false;
  chain_.send(kube::call_of("GET", "/api/v1/nodes/" + options_.pool.node, ""),
              [this](Result<kube::Reply> reply) {
                if (chain_.failed("cannot read the node", reply, {})) return;
                node_read(reply->body);
              });
}

void SlicePublisher::node_read(const std::string& body) {
  auto node = codec::read_node_facts(body);
  if (!node)
    return chain_.refused("the API server's Node is not understood: " + node.error().text());
  node_ = std::move(node).value();
  chain_.send(kube::call_of("GET", kSlices + "?" + of_node(options_.pool.node), ""),
              [this](Result<kube::Reply> reply) {
                if (chain_.failed("cannot list them", reply, {kube::kNotFound})) return;
                if (reply->status == kube::kNotFound) {
                  return chain_.refused(
                      "the API server has no resource.k8s.io/v1: the DRA driver needs Kubernetes "
                      "1.34 or later");
                }
                slices_read(reply->body);
              });
}

void SlicePublisher::slices_read(const std::string& body) {
  auto slices = codec::read_resource_slices(body);
  if (!slices)
    return chain_.refused("the API server's list is not understood: " + slices.error().text());
  all_ = std::move(slices).value();
  judge();
  step();
}

void SlicePublisher::judge() {
  std::string why = conflict_on_node(*state_, options_.pool.driver, all_, node_);
  if (conflict_ == why) return;
  const bool before = conflict_ && !conflict_->empty();
  conflict_ = std::move(why);
  if (!conflict_->empty()) {
    obs::log(obs::Level::error, "the DRA driver offers no chips",
             {{"driver", options_.pool.driver}, {"reason", *conflict_}});
  } else if (before) {
    obs::log(obs::Level::info, "the DRA driver offers the chips again",
             {{"driver", options_.pool.driver}});
  }
  if (events_.conflict) events_.conflict(*conflict_);
}

void SlicePublisher::step() {
  if (again_) return look();
  if (no_taints_since_ && transport_.now() - *no_taints_since_ >= options_.taints_again_every)
    no_taints_since_.reset();
  std::vector<codec::DriverDevice> devices;
  if (conflict_->empty()) devices = pool_devices(*state_, options_.pool, host_);
  std::vector<ResourceSlice> own;
  for (const ResourceSlice& each : all_)
    if (each.driver == options_.pool.driver) own.push_back(each);
  auto write = next_write(own, slices_of(std::move(devices), options_.pool, node_.uid),
                          no_taints_since_.has_value());
  if (!write) return rest();
  send(std::move(*write));
}

void SlicePublisher::send(SliceWrite write) {
  kube::Call call;
  const std::string path = kSlices + "/" + write.slice.name;
  switch (write.kind) {
    case SliceWrite::Kind::create:
      call = kube::call_of("POST", kSlices, codec::write_resource_slice(write.slice));
      break;
    case SliceWrite::Kind::update:
      call = kube::call_of("PUT", path, codec::write_resource_slice(write.slice));
      break;
    case SliceWrite::Kind::remove:
      call = kube::call_of("DELETE", path, codec::write_delete_options(write.slice.version));
      break;
  }
  chain_.send(std::move(call), [this, write = std::move(write)](Result<kube::Reply> reply) mutable {
    written(std::move(write), std::move(reply));
  });
}

void SlicePublisher::written(SliceWrite write, Result<kube::Reply> reply) {
  if (chain_.failed("cannot write one", reply, {kube::kConflict, kube::kNotFound})) return;
  if (reply->status == kube::kConflict || reply->status == kube::kNotFound)
    return chain_.look_again();
  const std::string name = write.slice.name;
  std::erase_if(all_, [&](const ResourceSlice& each) { return each.name == name; });
  if (write.kind == SliceWrite::Kind::remove) return step();
  auto stored = codec::read_resource_slice(reply->body);
  if (!stored)
    return chain_.refused("the API server's answer is not understood: " + stored.error().text());
  if (lacks_taints(*stored, write.slice)) {
    chain_.note(
        "the API server stores no taints of devices (feature gate DRADeviceTaints, on by default "
        "in "
        "Kubernetes 1.36): ordinary claims may get managed and unhealthy chips");
    if (!no_taints_since_) no_taints_since_ = transport_.now();
  }
  write.slice.version = stored->version;
  const auto left = next_write({*stored}, {write.slice}, no_taints_since_.has_value());
  all_.push_back(std::move(*stored));
  // An admission controller undoes it: do not write it again and again.
  if (left && left->slice.name == name)
    return chain_.refused("the API server has stored something else than was written");
  step();
}

void SlicePublisher::rest() {
  chain_.succeeded();
  phase_ = Phase::resting;
  chain_.wait(options_.check_every, [this] { look(); });
}

}  // namespace chipweave::agent::dra
