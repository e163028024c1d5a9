#include "node-agent/publish/kube/lease_keeper.hpp"

#include <utility>

#include "common/codec/kube/objects/stored_object.hpp"

namespace chipweave::agent {
namespace {

using kube::kConflict;
using kube::kNotFound;

}  // namespace

LeaseKeeper::LeaseKeeper(kube::Transport& transport, const Clock& clock, Options options,
                         Events events)
    : clock_(clock),
      options_(std::move(options)),
      events_(std::move(events)),
      chain_(transport, options_.chain,
             {[this] { read(); }, [this](bool yes) { events_.works(yes); }}) {
  lease_.ns = options_.ns;
  lease_.name = options_.node;
  lease_.holder = options_.boot_id;
  lease_.duration = options_.duration;
}

void LeaseKeeper::start() {
  lease_.acquired = clock_.wall();
  read();
}

void LeaseKeeper::read() {
  kube::Call call;
  call.target = codec::lease_path(lease_.ns) + "/" + lease_.name;
  chain_.send(std::move(call), [this](Result<kube::Reply> reply) {
    if (chain_.failed("cannot read it", reply, {kNotFound})) return;
    lease_.resource_version.clear();
    if (reply->status == kNotFound || take_version(std::move(reply->body))) put();
  });
}

void LeaseKeeper::put() {
  lease_.renewed = clock_.wall();
  const bool create = lease_.resource_version.empty();
  kube::Call call;
  call.method = create ? "POST" : "PUT";
  call.target = codec::lease_path(lease_.ns) + (create ? "" : "/" + lease_.name);
  call.body = codec::write_lease(lease_);
  chain_.send(std::move(call), [this](Result<kube::Reply> reply) { answered(std::move(reply)); });
}

void LeaseKeeper::answered(Result<kube::Reply> reply) {
  if (chain_.failed("cannot write it", reply, {kNotFound, kConflict})) return;
  if (reply->status == kNotFound && lease_.resource_version.empty()) {
    return chain_.refused("namespace " + lease_.ns +
                          " does not exist: create it or name another with --lease-namespace");
  }
  if (reply->status == kNotFound || reply->status == kConflict) return chain_.look_again();
  if (!take_version(std::move(reply->body))) return;
  chain_.succeeded();
  events_.renewed();
  chain_.wait(options_.renew_every, [this] { put(); });
}

bool LeaseKeeper::take_version(std::string body) {
  auto object = codec::read_stored_object(body);
  if (!object) {
    chain_.refused("unexpected answer of the API server: " + object.error().text());
    return false;
  }
  lease_.resource_version = std::move(object->version.resource_version);
  return true;
}

}  // namespace chipweave::agent
