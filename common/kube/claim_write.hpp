// Changes one ResourceClaim that others have made, until the outcome is known.
//
// Each write carries the version of the claim that it is based on. A write without an answer is
// sent again as it is: the API server takes one of them at most, and a conflict shows that none can
// arrive late any more. So an outcome other than called_off is certain. Owner: the loop thread. No
// callback after the ticket is destroyed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/codec/kube/watch.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct ClaimPatch {
  bool status = false;  // of the subresource
  std::string body;     // a merge patch with metadata.resourceVersion
};

struct ClaimWrite {
  codec::KubeClaim claim;  // as last seen
  // The next write for a claim that looks like this; nullopt: nothing is left to do.
  std::function<std::optional<ClaimPatch>(const codec::KubeClaim&)> next;
  // Called right before each write; if it returns false, nothing more is written. May be empty.
  std::function<bool()> may_send{};
};

struct ClaimWritten {
  enum class Outcome { done, changed, gone, refused, called_off };
  Outcome outcome = Outcome::called_off;
  std::string problem;                    // of all but done
  std::optional<codec::KubeClaim> claim;  // done, changed: as it is now
};

std::unique_ptr<Ticket> write_claim(Transport& transport, ClaimWrite write,
                                    std::function<void(ClaimWritten)> done);

}  // namespace chipweave::kube
