// ClaimCertainty — whether every allocation is known that an earlier leader, or this program before
// it was killed, may have written to a claim.
//
// Once per term all claims are listed, and the slices if the chips of a claim are not known. Claims
// of waiting pods that chipweave has begun to allocate (they have the finalizer, which it writes
// first) are changed, so that a write which arrives later is refused: it carries an older version.
// Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/kube/claim_write.hpp"
#include "scheduler-plugin/app/authority.hpp"
#include "scheduler-plugin/kube/dra/claim_watch.hpp"

namespace chipweave::sched {

class ClaimCertainty {
 public:
  // The claims that chipweave allocates, as they are known now.
  using Begun = std::function<std::vector<codec::KubeClaim>()>;
  // All must outlive it.
  ClaimCertainty(kube::Transport& transport, const Authority& authority, ClaimWatch& watch,
                 Begun begun)
      : transport_(transport), authority_(authority), watch_(watch), begun_(std::move(begun)) {}

  bool is_certain() const { return certain_ && term_ == authority_.term(); }
  // Calls `then` when it is certain in this term. Errors: unavailable.
  void when_certain(std::function<bool()> may_send, Done then);

 private:
  template <class Object>
  void list(const char* resource, const std::string& from, void (ClaimCertainty::*then)());
  void claims_listed();
  void settle();
  void over(const Result<void>& result);

  kube::Transport& transport_;
  const Authority& authority_;
  ClaimWatch& watch_;
  Begun begun_;
  bool certain_ = false;
  std::uint64_t term_ = 0;  // of certain_
  bool busy_ = false;
  std::uint64_t asked_ = 0;  // the term of the list in progress
  std::function<bool()> may_send_;
  std::vector<Done> waiting_;
  std::unique_ptr<kube::Ticket> ticket_;
  std::map<std::string, std::unique_ptr<kube::Ticket>> writes_;  // by claim
  std::string problem_;
};

}  // namespace chipweave::sched
