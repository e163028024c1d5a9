// DemandEstimate — learns the Demand from the pods that come to a cluster.
//
// Recent pods count more: all counts are halved whenever they add up to kMaxCount. The estimate
// changes only in refresh(), so that what was computed with it can be kept until then. The same
// pods in the same order give the same estimate. Owner: its user's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "common/solver/nodes/demand.hpp"

namespace chipweave::solver {

class DemandEstimate {
 public:
  static constexpr std::uint64_t kMaxCount = 8192;
  static constexpr std::size_t kMaxClasses = 1024;

  // A pod came. Pods without chips have no effect.
  void add(const DemandClass& pod);
  // Whether an eighth of all counted pods came since the last refresh.
  bool due() const { return count_ > 0 && since_ * 8 >= count_; }
  // nodes: of the whole cluster, empty.
  void refresh(std::span<const EmptyNodes> nodes);

  const Demand& demand() const { return demand_; }
  // Differs between any two estimates.
  std::uint64_t version() const { return version_; }

 private:
  void halve();

  std::map<DemandClass, std::uint64_t> counts_;
  std::uint64_t count_ = 0;  // the sum of counts_
  std::uint64_t since_ = 0;  // pods since the last refresh
  Demand demand_;
  std::uint64_t version_ = 0;
};

}  // namespace chipweave::solver
