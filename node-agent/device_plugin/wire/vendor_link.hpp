// VendorLink — the vendor's own device plugin, kept behind ours: serves it, in a folder of its own,
// the socket at which it registers with a kubelet, and calls it as the kubelet would. What it
// offers and how it answers passes through; where its devices are (NUMA) does not.
//
// Loop thread; gRPC's threads only read and post. The loop must outlive it; destroying it cancels
// what is in flight, without answers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/device_plugin/core/hand_over.hpp"

namespace chipweave::device_plugin {

class VendorLink {
 public:
  struct Options {
    using Ms = std::chrono::milliseconds;
    std::string folder;    // checked before; made if it is missing
    std::string resource;  // the vendor may register no other one
    Ms answer_within{10'000};
    Ms connect_again{500};
  };
  // nullopt: the vendor's plugin is away.
  using Offers = std::function<void(const std::optional<std::vector<OfferedDevice>>&)>;
  template <class T>
  using Reply = std::function<void(Result<T>)>;

  // Removes the sockets of the folder first, as the kubelet does: plugins then register again.
  // Errors: unavailable.
  static Result<std::unique_ptr<VendorLink>> start(http::Loop& loop, Options options,
                                                   Offers offers);
  ~VendorLink();
  VendorLink(const VendorLink&) = delete;
  VendorLink& operator=(const VendorLink&) = delete;

  // containers: their devices. One answer each, in the same order.
  void allocate(const std::vector<std::vector<std::string>>& containers,
                Reply<std::vector<Handed>> reply);
  // Answered at once if the vendor's plugin does not want to be asked.
  void pre_start(const std::vector<std::string>& ids, Reply<void> reply);

 private:
  VendorLink();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::device_plugin
