#include "common/codec/ascend/npu_smi_spod.hpp"

#include <limits>
#include <optional>
#include <string>

#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::ascend {
namespace {

// The number of the one line with that key.
Result<std::int64_t> number_of(std::string_view output, const std::string& key) {
  std::optional<std::int64_t> out;
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    const auto value = value_of(line, key);
    if (!value) continue;
    const auto number =
        plain_number(*value, std::int64_t{std::numeric_limits<std::uint32_t>::max()});
    if (!number) {
      return make_error(Errc::invalid_argument,
                        key + " must be a number below 2^32, got " + quoted_excerpt(*value))
          .in(lines.where());
    }
    if (out && *out != *number) {
      return make_error(Errc::invalid_argument,
                        key + " has two values; give the output of one chip")
          .in(lines.where());
    }
    out = number;
  }
  if (!out)
    return make_error(Errc::invalid_argument, "the line \"" + key + " : NUMBER\" is missing");
  return *out;
}

}  // namespace

Result<SpodInfo> parse_spod_info(std::string_view output) {
  if (output.size() > kMaxSpodInfoBytes) {
    return make_error(Errc::limit_exceeded,
                      "npu-smi printed more than " + std::to_string(kMaxSpodInfoBytes) + " bytes");
  }
  if (output.find("does not support") != std::string_view::npos) {
    return make_error(Errc::unsupported,
                      "the device is in no super pod: npu-smi does not support the query for it");
  }
  SpodInfo out;
  const auto sdid = number_of(output, "SDID");
  if (!sdid) return sdid.error();
  const auto size = number_of(output, "Super Pod Size");
  if (!size) return size.error();
  const auto pod = number_of(output, "Super Pod ID");
  if (!pod) return pod.error();
  const auto server = number_of(output, "Server Index");
  if (!server) return server.error();
  out.sdid = static_cast<std::uint32_t>(*sdid);
  out.super_pod_size = *size;
  out.super_pod_id = *pod;
  out.server_index = *server;
  return out;
}

}  // namespace chipweave::codec::ascend
