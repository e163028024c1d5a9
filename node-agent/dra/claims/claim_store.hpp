// ClaimStore — the claims that this driver has prepared: their checkpoint and their CDI files.
//
// The checkpoint is written before the CDI file of a new claim and after the one of a claim that
// ends is deleted. So a driver that ends at any moment finds in it every claim that a container may
// have, and load() makes the files as it says. What fails leaves the claim prepared, and the next
// try goes on from there. Owner: the loop thread.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/codec/kube/dra/prepared_claims.hpp"
#include "node-agent/dra/claims/driver_files.hpp"

namespace chipweave::agent::dra {

class ClaimStore {
 public:
  struct Options {
    std::string driver;
    std::string pool;
    std::string checkpoint;  // file
    std::string cdi_folder;
  };
  ClaimStore(DriverFiles& files, Options options) : files_(files), options_(std::move(options)) {}

  // Reads the checkpoint, and makes the CDI files those of its claims. Nothing else works before;
  // the other calls try it again. Errors: a checkpoint that cannot be used, with what to do.
  Result<void> load();
  // The same, if it has not worked yet.
  Result<void> load_once();

  // Prepares the claim as given; one that is prepared with the same devices keeps what it has.
  // Returns what is prepared, until the next call. Errors: conflict (a device or chip of another
  // claim; other devices than before), unavailable (a file cannot be written).
  Result<const codec::PreparedClaim*> prepare(codec::PreparedClaim claim);
  // Why prepare() would refuse a new claim: another one has a device or chip of it. nullopt: none.
  // Precondition: loaded.
  std::optional<Error> holder_of(const codec::PreparedClaim& claim) const;
  // What of a prepared claim the API server need not be asked for; null: not prepared.
  // Precondition: loaded.
  const codec::PreparedClaim* find(const std::string& uid) const;
  // ok also for a claim that is not prepared.
  Result<void> unprepare(const std::string& uid);

  bool loaded() const { return stored_.has_value(); }
  const codec::PreparedClaims* claims() const { return stored_ ? &*stored_ : nullptr; }

 private:
  Result<codec::PreparedClaims> read_checkpoint() const;
  Result<void> save(codec::PreparedClaims claims);
  Result<void> make_file(const codec::PreparedClaim& claim);
  std::string cdi_path(const std::string& uid) const;

  DriverFiles& files_;
  Options options_;
  std::optional<codec::PreparedClaims> stored_;  // as the checkpoint has it
};

}  // namespace chipweave::agent::dra
