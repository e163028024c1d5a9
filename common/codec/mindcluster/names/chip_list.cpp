#include "common/codec/mindcluster/names/chip_list.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::mindcluster {
namespace {

constexpr std::size_t kMaxListBytes = 64U << 10U;

void make_unique(std::vector<int>& chips) {
  std::sort(chips.begin(), chips.end());
  chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
}

}  // namespace

std::string chip_name(std::string_view prefix, int chip) {
  return std::string(prefix) + "-" + std::to_string(chip);
}

std::optional<int> chip_of_name(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix) || !name.substr(prefix.size()).starts_with('-')) {
    return std::nullopt;
  }
  const auto out = parse_number<int>(name.substr(prefix.size() + 1));
  return out && *out >= 0 && *out <= limits::kMaxChipIndex ? out : std::nullopt;
}

Result<std::vector<int>> read_chip_list(std::string_view prefix, std::string_view text) {
  const auto too_many = [] {
    return make_error(Errc::limit_exceeded,
                      "lists more than " + std::to_string(kMaxListedChips) + " chips");
  };
  if (text.size() > kMaxListBytes) return too_many();
  std::vector<int> out;
  for (const std::string_view item : split(text, ',')) {
    const std::string_view name = trim(item);
    if (name.empty()) continue;
    const auto chip = chip_of_name(prefix, name);
    if (!chip) {
      return make_error(Errc::invalid_argument, "names a chip " + quoted_excerpt(name) +
                                                    ", not one such as " +
                                                    quoted_excerpt(chip_name(prefix, 0)));
    }
    if (out.size() >= kMaxListedChips) return too_many();
    out.push_back(*chip);
  }
  make_unique(out);
  return out;
}

std::string write_chip_list(std::string_view prefix, std::vector<int> chips) {
  make_unique(chips);
  std::string out;
  for (const int chip : chips) out += (out.empty() ? "" : ",") + chip_name(prefix, chip);
  return out;
}

}  // namespace chipweave::codec::mindcluster
