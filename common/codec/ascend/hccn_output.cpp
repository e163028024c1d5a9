#include "common/codec/ascend/hccn_output.hpp"

#include "common/codec/ascend/hccn_tool.hpp"
#include "common/codec/ascend/text_lines.hpp"

namespace chipweave::codec::ascend {
namespace {

std::string first_line(std::string_view output) {
  AscendLines lines(output);
  for (std::string_view line; lines.next(line);) {
    if (!line.empty() && !is_prompt(line)) return std::string(line);
  }
  return "";
}

}  // namespace

Error no_answer(std::string_view output, const std::string& what) {
  const std::string line = first_line(output);
  if (line.find("is busy") != std::string::npos) {
    return make_error(Errc::unavailable, "hccn_tool is busy; try again");
  }
  if (line.find("preset") != std::string::npos || line.find("not set") != std::string::npos ||
      line.find("no ip") != std::string::npos) {
    return make_error(Errc::not_found, "no " + what + " is set on the device");
  }
  const std::string said = line.empty() ? "nothing" : excerpt(line);
  return make_error(Errc::invalid_argument, "hccn_tool printed " + said + ", no " + what);
}

Result<void> small_enough(std::string_view output) {
  if (output.size() <= kMaxHccnToolBytes) return {};
  return make_error(Errc::limit_exceeded,
                    "hccn_tool printed more than " + std::to_string(kMaxHccnToolBytes) + " bytes");
}

Result<std::string> first_value(std::string_view output, std::string_view key,
                                const std::string& what) {
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  AscendLines lines(output);
  for (std::string_view line; lines.next(line);) {
    if (const auto value = value_of(line, key); value && !value->empty()) {
      return std::string(*value);
    }
  }
  return no_answer(output, what);
}

}  // namespace chipweave::codec::ascend
