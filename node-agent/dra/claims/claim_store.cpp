#include "node-agent/dra/claims/claim_store.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "node-agent/dra/claims/cdi_spec.hpp"

namespace chipweave::agent::dra {
namespace {

using codec::PreparedClaim;
using codec::PreparedClaims;
using codec::PreparedDevice;

bool same_devices(const PreparedClaim& a, const PreparedClaim& b) {
  return std::equal(a.devices.begin(), a.devices.end(), b.devices.begin(), b.devices.end(),
                    [](const PreparedDevice& x, const PreparedDevice& y) {
                      return x.request == y.request && x.pool == y.pool && x.device == y.device;
                    });
}

std::string named(const PreparedClaim& claim) {
  return claim.ns + "/" + claim.name + " (" + claim.uid + ")";
}

}  // namespace

std::string ClaimStore::cdi_path(const std::string& uid) const {
  return options_.cdi_folder + "/" + cdi_file_name(options_.driver, uid);
}

Result<PreparedClaims> ClaimStore::read_checkpoint() const {
  auto text = files_.read(options_.checkpoint);
  if (!text && text.error().code == Errc::not_found)
    return PreparedClaims{options_.driver, options_.pool, {}};
  if (!text) return std::move(text).error();
  auto out = codec::read_prepared_claims(*text);
  std::string problem;
  if (!out) {
    problem = out.error().text();
  } else if (out->driver != options_.driver || out->pool != options_.pool) {
    problem = "it is of driver " + out->driver + " on node " + out->pool;
  } else {
    return out;
  }
  return make_error(Errc::invalid_argument,
                    "the checkpoint of prepared claims cannot be used: " + problem +
                        ". No claim is prepared or ended until this is mended: drain the node, "
                        "delete the file, and restart the agent")
      .in("file " + options_.checkpoint);
}

Result<void> ClaimStore::load() {
  auto read = read_checkpoint();
  if (!read) return std::move(read).error();
  auto names = files_.names(options_.cdi_folder);
  if (!names) return std::move(names).error();
  std::set<std::string> wanted;
  for (const auto& [uid, claim] : read->claims) wanted.insert(cdi_file_name(options_.driver, uid));
  for (const std::string& name : *names) {
    if (!is_cdi_file_of(options_.driver, name) || wanted.contains(name)) continue;
    if (auto ok = files_.remove(options_.cdi_folder + "/" + name); !ok) return ok;
  }
  for (const auto& [uid, claim] : read->claims) {
    if (auto ok = make_file(claim); !ok) return ok;
  }
  stored_ = std::move(read).value();
  return {};
}

Result<void> ClaimStore::load_once() {
  if (stored_) return {};
  return load();
}

// Only what differs is written: the folder may be on a disk, and every pod comes here again.
Result<void> ClaimStore::make_file(const PreparedClaim& claim) {
  const std::string path = cdi_path(claim.uid);
  const std::string content = write_cdi_spec(options_.driver, claim);
  const auto there = files_.read(path);
  if (there && *there == content) return {};
  return files_.write(path, content);
}

Result<void> ClaimStore::save(PreparedClaims claims) {
  if (auto ok = files_.write(options_.checkpoint, codec::write_prepared_claims(claims)); !ok) {
    // The file may have been replaced before the failure: it is read again.
    stored_.reset();
    return ok;
  }
  stored_ = std::move(claims);
  return {};
}

std::optional<Error> ClaimStore::holder_of(const PreparedClaim& claim) const {
  for (const auto& [uid, other] : stored_->claims) {
    if (uid == claim.uid) continue;
    for (const PreparedDevice& device : claim.devices) {
      for (const PreparedDevice& each : other.devices) {
        const bool same_chip = !device.chip.empty() && each.chip == device.chip;
        if (each.device != device.device && !same_chip) continue;
        return make_error(Errc::conflict, "device " + device.device +
                                              " is prepared for the claim " + named(other) +
                                              ", which the kubelet has not ended yet");
      }
    }
  }
  return std::nullopt;
}

Result<const PreparedClaim*> ClaimStore::prepare(PreparedClaim claim) {
  if (auto ok = load_once(); !ok) return std::move(ok).error();
  if (!codec::is_plain_uid(claim.uid))
    return make_error(Errc::invalid_argument, "the claim's uid is invalid");
  const auto found = stored_->claims.find(claim.uid);
  if (found == stored_->claims.end()) {
    if (stored_->claims.size() == codec::kMaxPreparedClaims)
      return make_error(Errc::limit_exceeded, "too many claims are prepared on this node");
    if (auto holder = holder_of(claim)) return *std::move(holder);
    PreparedClaims next = *stored_;
    const std::string uid = claim.uid;
    next.claims.emplace(uid, std::move(claim));
    if (auto ok = save(std::move(next)); !ok) return std::move(ok).error();
    const PreparedClaim& stored = stored_->claims.at(uid);
    if (auto ok = make_file(stored); !ok) return std::move(ok).error();
    return &stored;
  }
  if (!same_devices(found->second, claim)) {
    return make_error(Errc::conflict,
                      "the claim is prepared with other devices than are allocated for it now: "
                      "delete the pod, so that the kubelet ends it");
  }
  if (auto ok = make_file(found->second); !ok) return std::move(ok).error();
  return &found->second;
}

const PreparedClaim* ClaimStore::find(const std::string& uid) const {
  if (!stored_) return nullptr;
  const auto found = stored_->claims.find(uid);
  return found == stored_->claims.end() ? nullptr : &found->second;
}

Result<void> ClaimStore::unprepare(const std::string& uid) {
  if (auto ok = load_once(); !ok) return ok;
  if (!stored_->claims.contains(uid)) return {};
  if (auto ok = files_.remove(cdi_path(uid)); !ok) return ok;
  PreparedClaims next = *stored_;
  next.claims.erase(uid);
  return save(std::move(next));
}

}  // namespace chipweave::agent::dra
