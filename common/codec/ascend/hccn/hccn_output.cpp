#include "common/codec/ascend/hccn/hccn_output.hpp"

#include <algorithm>

#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::ascend {
namespace {

std::string first_answer_line(std::string_view output) {
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    if (!line.empty() && !is_prompt(line)) return std::string(line);
  }
  return "";
}

}  // namespace

Error no_answer(std::string_view output, const std::string& what) {
  const std::string line = first_answer_line(output);
  if (line.find("is busy") != std::string::npos) {
    return make_error(Errc::unavailable, "hccn_tool is busy; try again");
  }
  if (line.find("preset") != std::string::npos || line.find("not set") != std::string::npos ||
      line.find("no ip") != std::string::npos) {
    return make_error(Errc::not_found, "no " + what + " is set on the device");
  }
  const std::string printed = line.empty() ? "nothing" : quoted_excerpt(line);
  return make_error(Errc::invalid_argument, "hccn_tool printed " + printed + ", no " + what);
}

Result<void> small_enough(std::string_view output) {
  if (output.size() <= kMaxHccnToolBytes) return {};
  return make_error(Errc::limit_exceeded,
                    "hccn_tool printed more than " + std::to_string(kMaxHccnToolBytes) + " bytes");
}

Result<std::string> first_value(std::string_view output, std::string_view key,
                                const std::string& what) {
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    if (const auto value = value_of(line, key); value && !value->empty()) {
      return std::string(*value);
    }
  }
  return no_answer(output, what);
}

bool is_prompt(std::string_view line) {
  if (line.starts_with("$ ")) return true;
  const std::size_t sign = std::min({line.find("# "), line.find("$ "), line.size()});
  const std::string_view before = line.substr(0, sign);
  return sign < line.size() && before.find('@') != std::string_view::npos &&
         before.find('=') == std::string_view::npos;
}

}  // namespace chipweave::codec::ascend
