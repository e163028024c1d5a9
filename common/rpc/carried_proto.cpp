#include "common/rpc/carried_proto.hpp"

#include <string>

#include "common/base/limits.hpp"

namespace chipweave::rpc {

v1::CarriedList to_proto(const domain::CarriedPeaks& carried) {
  v1::CarriedList out;
  for (const auto& [chip, gbps] : carried) {
    v1::ChipCarried& one = *out.add_chips();
    one.set_chip(chip.value);
    one.set_gbps(gbps);
  }
  return out;
}

Result<domain::CarriedPeaks> from_proto(const v1::CarriedList& message) {
  if (message.chips_size() > limits::kMaxChips) {
    return make_error(Errc::limit_exceeded,
                      "carried: " + std::to_string(message.chips_size()) + " chips, at most " +
                          std::to_string(limits::kMaxChips) + " are accepted");
  }
  domain::CarriedPeaks out;
  for (int i = 0; i < message.chips_size(); ++i) {
    const v1::ChipCarried& one = message.chips(i);
    const std::string where = "carried[" + std::to_string(i) + "].";
    if (one.chip() < 0 || one.chip() > limits::kMaxChipIndex) {
      return make_error(Errc::invalid_argument, where + "chip is not the number of a chip");
    }
    // Not a number is not above 0 either.
    if (!(one.gbps() >= 0 && one.gbps() <= domain::kMaxCarriedGbps)) {
      return make_error(Errc::invalid_argument, where + "gbps is not a bandwidth in GB/s");
    }
    out[domain::ChipIndex{one.chip()}] = one.gbps();
  }
  return out;
}

}  // namespace chipweave::rpc
