// ConfigMapKeeper — keeps one ConfigMap in its desired state: creates it, patches it when the
// desired content changes, restores it after a deletion, and deletes it when it is no longer
// wanted.
//
// Only the latest desired state counts; nothing queues up during an outage of the API server.
// Patches carry the resource version that was read, so that keys of other writers stay and a
// concurrent write is a conflict. At most one write per `write_gap`, one read per `check_every`. A
// ConfigMap without our labels is taken over or left alone, depending on `take_over`, and never
// deleted. Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/pace.hpp"
#include "common/codec/kube/objects/config_map.hpp"
#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/codec/kube/objects/stored_object.hpp"
#include "common/kube/api_chain.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

inline constexpr const char* kManagedByLabel = "app.kubernetes.io/managed-by";

class ConfigMapKeeper {
 public:
  using Ms = std::chrono::milliseconds;
  struct Wanted {
    codec::StringMap labels;  // in addition to kManagedByLabel
    // stamp: seconds since 1970, larger than at the write before. Only results for equal stamps are
    // compared, so that a timestamp in the data alone does not cause a write.
    std::function<codec::StringMap(std::int64_t stamp)> data;
    // Keys that users edit: kept as they are, and created empty if missing. If the whole object is
    // deleted, they are restored as last seen.
    std::vector<std::string> edited{};
    // It is deleted with them. Those that it has already stay only if these are among them.
    std::vector<codec::ObjectOwner> owners{};
    bool create = true;  // false: it is not made if it is absent
  };
  // An object that users make beforehand, or this keeper, and that programs of others might write,
  // too. One that is there keeps its labels and owners.
  struct Shared {
    // A label with a hash of what was written: with another hash, others have written it since.
    std::string content_label;
    // The key whose value is the stamp, and goes on from what is stored.
    std::string stamp_key;
    // Whether data that others wrote may be replaced; otherwise they are left as they are.
    std::function<bool(const codec::StringMap& data)> replaceable;
  };
  struct Options {
    std::string ns;
    std::string name;
    std::string managed_by;    // value of our label; empty: shared
    codec::StringMap marks{};  // further labels without which an object is not ours
    bool take_over = false;    // an object that is not ours
    std::optional<Shared> shared{};
    // Reads by an empty merge patch, which answers with the object and changes nothing. Admission
    // policies see patches and not reads, so an account without the right to read ConfigMaps can be
    // held to those that it owns by name.
    bool read_by_patch = false;
    bool held = false;       // writes nothing before release()
    Ms check_every{60'000};  // with jitter: between half of it and the whole
    Ms rewrite_every{0};     // with a new stamp although nothing changed; 0: never
    Ms write_gap{1'000};
    std::function<bool()> may_send{};  // called right before each write; may be empty
    ApiChain::Options chain;
  };
  struct Events {
    std::function<void(const codec::StringMap& edited)> seen;  // when they have changed
    std::function<void(bool)> works;
    std::function<void()> looked = nullptr;  // after each successful read
    // ApiChain::Owner::refused
    std::function<void(const std::string& problem)> refused = nullptr;
    // The API server has stored what was wanted when it was sent.
    std::function<void(const codec::StringMap& data)> written = nullptr;
    // The first object that was read, before anything is written: want() may still change what is.
    std::function<void(const codec::StringMap& data)> found = nullptr;
  };
  ConfigMapKeeper(Transport& transport, const Clock& clock, Options options, Events events);
  ConfigMapKeeper(const ConfigMapKeeper&) = delete;
  ConfigMapKeeper& operator=(const ConfigMapKeeper&) = delete;

  // nullopt: the ConfigMap must not exist, if it is ours.
  void want(std::optional<Wanted> wanted);
  void start();
  void release();
  void stop();

 private:
  enum class Phase {
    stopped,
    busy,     // a request or a back-off is in progress
    resting,  // until the next check; without one if nothing is wanted
  };
  enum class Freshness { newest, any };

  void look(Freshness freshness);
  void looked(Result<Reply> reply);
  void step();
  void send_write(Call call, ApiChain::Then then);
  // True if a write may be sent now; otherwise schedules step().
  bool may_write();
  void create();
  void patch();
  void remove();
  void written(Result<Reply> reply, int also_expected);
  void rest();
  bool take(std::string body);
  void report_edited();
  void take_stamp();
  bool is_ours() const;
  bool others_write() const;
  bool keeps_found() const { return options_.shared.has_value() && stored_.has_value(); }
  bool has_owners() const;
  bool must_rewrite() const;
  std::int64_t next_stamp() const;
  // The difference between the stored and the desired state at that stamp.
  codec::ObjectChanges changes_for(std::int64_t stamp) const;
  codec::StringMap all_labels(const codec::StringMap& data) const;

  Transport& transport_;
  const Clock& clock_;
  Options options_;
  Events events_;
  ApiChain chain_;
  Backoff check_;
  Pace pace_;
  Phase phase_ = Phase::stopped;
  std::string path_;
  std::optional<Wanted> wanted_;
  std::optional<codec::StoredObject> stored_;     // as last seen
  codec::StringMap edited_;                       // as last seen
  codec::StringMap sent_;                         // data of the last write
  std::set<std::string, std::less<>> data_keys_;  // written by us
  std::int64_t stamp_ = 0;                        // of the last write
  bool stored_by_us_ = false;                     // in this run
  std::chrono::steady_clock::time_point last_write_{};
};

}  // namespace chipweave::kube
