#include "common/codec/text/cpu_mask.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/text.hpp"
#include "common/codec/text/numbers.hpp"

namespace chipweave::codec {

std::string cpu_list_of_mask(std::string_view mask) {
  constexpr int kWordBits = 32;
  constexpr std::size_t kMaxWords = 256;
  const std::vector<std::string_view> texts = split(mask, ',');
  if (texts.size() > kMaxWords) return {};
  std::vector<std::uint32_t> words;  // the lowest first
  for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
    const auto word = text->empty() ? std::uint32_t{0} : parse_hex(*text);
    if (!word) return {};
    words.push_back(*word);
  }
  const int count = static_cast<int>(words.size()) * kWordBits;
  const auto is_set = [&](int cpu) {
    return cpu < count && (words[static_cast<std::size_t>(cpu / kWordBits)] >>
                               static_cast<unsigned>(cpu % kWordBits) &
                           1U) != 0;
  };
  std::string out;
  for (int cpu = 0; cpu < count; ++cpu) {
    if (!is_set(cpu)) continue;
    const int first = cpu;
    while (is_set(cpu + 1)) ++cpu;
    out += (out.empty() ? "" : ",") + std::to_string(first);
    if (cpu > first) out += "-" + std::to_string(cpu);
  }
  return out;
}

}  // namespace chipweave::codec
