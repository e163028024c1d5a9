#include "common/codec/mindcluster/names/node_labels.hpp"

#include <cstddef>

#include "common/codec/text/numbers.hpp"

namespace chipweave::codec::mindcluster {
namespace {

std::optional<int> number_from_1(std::string_view digits, int most) {
  const auto out = exact_number<int>(digits);
  return out && *out >= 1 && *out <= most ? out : std::nullopt;
}

}  // namespace

std::string write_server_type(const ServerType& type) {
  return type.card + "-" + std::to_string(type.ai_cores);
}

std::optional<ServerType> read_server_type(std::string_view label) {
  const std::size_t dash = label.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto cores = number_from_1(label.substr(dash + 1), kMaxAiCores);
  if (!cores) return std::nullopt;
  return ServerType{std::string(label.substr(0, dash)), *cores};
}

std::string write_chip_memory(int gigabytes) { return std::to_string(gigabytes) + "G"; }

std::optional<int> read_chip_memory(std::string_view label) {
  if (!label.ends_with('G')) return std::nullopt;
  return number_from_1(label.substr(0, label.size() - 1), kMaxChipGigabytes);
}

}  // namespace chipweave::codec::mindcluster
