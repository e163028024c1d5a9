#include "common/codec/topology/hardware/pci.hpp"

#include <cstddef>

#include "common/base/text.hpp"

namespace chipweave::codec {

std::string normalize_bus_id(std::string_view text) {
  std::string out = lower_case(trim(text));
  const std::size_t domain = out.find(':');
  if (domain == std::string::npos) return out;
  std::size_t zeros = 0;
  while (domain - zeros > 4 && out[zeros] == '0') ++zeros;
  return out.substr(zeros);
}

int pcie_generation_of_gts(double gigatransfers) {
  if (gigatransfers <= 0) return 0;
  if (gigatransfers > 50) return 6;
  if (gigatransfers > 25) return 5;
  return gigatransfers > 12 ? 4 : 3;
}

}  // namespace chipweave::codec
