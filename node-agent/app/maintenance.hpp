// Maintenance — an operator's order to judge nothing for a while: during a reset, a change of the
// MIG mode or a new driver, a machine looks broken.
//
// It lasts until the hardware was seen again after the order has ended. Resets still count,
// since they end what was before them. One owner; no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/fault.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

class Maintenance {
 public:
  bool on() const { return reason_.has_value(); }
  // The order has ended, and what it is like now is not known yet.
  bool ending() const { return ending_; }
  // The current order. now: Unix time in ms.
  void set(std::optional<std::string> reason, std::int64_t now);
  // The hardware was seen, or fails; only if ending().
  void end();
  // The order of the agent's previous run: in force until the current one is known.
  void restore(std::optional<std::string> reason, std::int64_t since);
  // Removes the events that are not judged now.
  void filter(std::vector<domain::Signal>& events);
  // For the log, once it has ended: the events that were not judged; "" if there were none.
  std::string take_unjudged();
  // While it is on: no chip is offered.
  std::optional<domain::Fault> fault() const;

 private:
  std::optional<std::string> reason_;
  std::int64_t since_ = 0;
  bool ending_ = false;
  bool known_ = false;  // not the previous run's
  std::size_t unjudged_ = 0;
  std::vector<std::string> named_;  // the first few of them
};

}  // namespace chipweave::agent
