// ConfigMapKeeper — keeps one ConfigMap as it is wanted: made, patched when what is wanted has
// changed, back after somebody has deleted it, and deleted when it is wanted no more.
//
// Only the newest wish counts; an outage of the API server queues nothing. Patched by the version
// that was seen, so that keys of others stay and a foreign writer is met as a conflict. At most one
// write in `write_gap`; looked at once in `check_every`. Ours is what carries our label; what does
// not is taken over or left alone, and never deleted.
// Loop thread only; ends with its destructor.
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
#include "common/kube/api_chain.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

inline constexpr const char* kManagedByLabel = "app.kubernetes.io/managed-by";

class ConfigMapKeeper {
 public:
  using Ms = std::chrono::milliseconds;
  struct Wanted {
    codec::StringMap labels;  // besides kManagedByLabel
    // stamp: seconds since 1970, risen since the write before. Only calls with equal stamps are
    // compared, so the time in a text makes no change of it.
    std::function<codec::StringMap(std::int64_t stamp)> data;
    // Keys that people edit: left as they are, written empty where they are missing; what somebody
    // deletes with the whole object comes back as it was seen last.
    std::vector<std::string> edited;
  };
  struct Options {
    std::string ns;
    std::string name;
    std::string managed_by;  // value of our label
    bool take_over = false;  // of an object without our label
    bool held = false;       // writes nothing before release()
    Ms check_every{60'000};  // with jitter: between half of it and all
    Ms rewrite_every{0};     // with a new stamp although nothing changed; 0: never
    Ms write_gap{1'000};
    std::function<bool()> may_send{};  // asked right before a write is sent; empty: nobody is
    ApiChain::Options chain;
  };
  struct Events {
    std::function<void(const codec::StringMap& edited)> seen;  // each time they are another text
    std::function<void(bool)> works;
    std::function<void()> looked = nullptr;  // each time that it is known what is there
  };
  ConfigMapKeeper(Transport& transport, const Clock& clock, Options options, Events events);
  ConfigMapKeeper(const ConfigMapKeeper&) = delete;
  ConfigMapKeeper& operator=(const ConfigMapKeeper&) = delete;

  // nullopt: it must not be there, as far as it is ours.
  void want(std::optional<Wanted> wanted);
  void start();
  void release();
  void stop();

 private:
  enum class Phase {
    stopped,
    busy,     // a request or a failure's wait is under way
    resting,  // until the next check, or for ever when nothing is wanted
  };
  enum class Freshness { newest, any };

  void look(Freshness freshness);
  void looked(Result<Reply> reply);
  void step();
  void send_write(Call call, ApiChain::Then then);
  // True when it may go now; otherwise step() will come again.
  bool may_write();
  void create();
  void patch();
  void remove();
  void written(Result<Reply> reply, int also_expected);
  void rest();
  bool take(std::string body);
  void tell_edited();
  bool is_ours() const;
  bool must_rewrite() const;
  std::int64_t next_stamp() const;
  // Between what is stored and what is wanted with that stamp.
  codec::ObjectChanges changes_for(std::int64_t stamp) const;
  codec::StringMap all_labels() const;

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
  std::optional<codec::KubeConfigMap> stored_;    // as last seen
  codec::StringMap edited_;                       // as last seen
  codec::StringMap sent_;                         // data of the last write
  std::set<std::string, std::less<>> data_keys_;  // that were written
  std::int64_t stamp_ = 0;                        // of the last write
  bool stored_by_us_ = false;                     // in this run
  std::chrono::steady_clock::time_point last_write_{};
};

}  // namespace chipweave::kube
