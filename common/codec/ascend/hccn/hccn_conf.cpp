#include "common/codec/ascend/hccn/hccn_conf.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/codec/ascend/hccn/hccn_output.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::ascend {
namespace {

enum class Kind { ipv4, ipv4_mask, ipv6, ipv6_mask };

struct Key {
  std::string_view name;
  std::string HccnConfDevice::*member;
  Kind kind;
};

constexpr std::array<Key, 6> kKeys = {{
    {"address", &HccnConfDevice::address, Kind::ipv4},
    {"netmask", &HccnConfDevice::netmask, Kind::ipv4_mask},
    {"gateway", &HccnConfDevice::gateway, Kind::ipv4},
    {"IPv6address", &HccnConfDevice::ipv6_address, Kind::ipv6},
    {"IPv6netmask", &HccnConfDevice::ipv6_netmask, Kind::ipv6_mask},
    {"IPv6gateway", &HccnConfDevice::ipv6_gateway, Kind::ipv6},
}};

// Why a value cannot be used; "" if it can.
std::string fault_of(Kind kind, std::string_view value) {
  if (kind == Kind::ipv6_mask && whole_number(value, 128)) return "";
  const auto address = parse_ip(value);
  const bool wants_v6 = kind == Kind::ipv6 || kind == Kind::ipv6_mask;
  if (!address || address->v6 != wants_v6) {
    return std::string("expected an ") + (wants_v6 ? "IPv6" : "IPv4") + " address, got " +
           quoted_excerpt(value);
  }
  const bool mask = kind == Kind::ipv4_mask || kind == Kind::ipv6_mask;
  if (mask && !prefix_of_netmask(*address))
    return "expected a netmask, got " + quoted_excerpt(value);
  return "";
}

Error bad_line(std::string message, const LineReader& lines) {
  return make_error(Errc::invalid_argument, std::move(message)).in(lines.where());
}

class HccnConfReader {
 public:
  explicit HccnConfReader(std::string_view text) : lines_(text) {}

  Result<HccnConf> read() {
    for (std::string_view line; lines_.next_trimmed(line);) {
      if (lines_.bytes() > kMaxHccnConfLineBytes) {
        return make_error(Errc::limit_exceeded, "must have at most " +
                                                    std::to_string(kMaxHccnConfLineBytes) +
                                                    " bytes; is this an hccn.conf?")
            .in(lines_.where());
      }
      if (line.find('\0') != std::string_view::npos) {
        return bad_line("holds a NUL byte; is this an hccn.conf?", lines_);
      }
      if (Result<void> done = take(line); !done) return std::move(done).error();
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kMaxWarnings = 100;

  void warn(const std::string& what) {
    if (out_.warnings.size() < kMaxWarnings) out_.warnings.push_back(lines_.where() + ": " + what);
  }

  Result<void> take(std::string_view line) {
    if (line.empty() || line.front() == '#') return {};
    const std::size_t equals = line.find('=');
    if (is_prompt(line) || equals == std::string_view::npos) {
      warn("expected KEY_ID=VALUE, got " + quoted_excerpt(line) + "; ignored");
      return {};
    }
    const std::string_view name = trim(line.substr(0, equals));
    const auto key =
        std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& k) { return is_of(name, k); });
    if (key == kKeys.end()) return {};
    const auto id =
        whole_number(name.substr(std::min(key->name.size() + 1, name.size())), kMaxHccnDevice);
    if (!id) {
      return bad_line("expected " + std::string(key->name) + "_ID with ID from 0 to " +
                          std::to_string(kMaxHccnDevice) + ", got " + quoted_excerpt(name),
                      lines_);
    }
    return set(*key, *id, trim(line.substr(equals + 1)));
  }

  // "address" and "address_…", not "address_family".
  static bool is_of(std::string_view name, const Key& key) {
    if (!name.starts_with(key.name)) return false;
    const std::string_view rest = name.substr(key.name.size());
    return rest.empty() || rest == "_" ||
           (rest[0] == '_' && rest.find_first_of("0123456789-+") == 1);
  }

  Result<void> set(const Key& key, int id, std::string_view value) {
    const std::string name = std::string(key.name) + "_" + std::to_string(id);
    if (value.empty()) {
      warn(name + " has no value and is ignored");
      return {};
    }
    if (const std::string fault = fault_of(key.kind, value); !fault.empty()) {
      return bad_line(name + ": " + fault, lines_);
    }
    std::string& slot = out_.devices[id].*key.member;
    if (!slot.empty() && slot != value) {
      return bad_line(
          name + " has two values, " + slot + " and " + std::string(value) + "; keep one", lines_);
    }
    if (!slot.empty()) warn("duplicate " + name);
    slot = value;
    return {};
  }

  LineReader lines_;
  HccnConf out_;
};

}  // namespace

Result<HccnConf> parse_hccn_conf(std::string_view text) {
  if (text.size() >= kMaxHccnConfBytes) {
    return make_error(Errc::limit_exceeded, "an hccn.conf must be smaller than " +
                                                std::to_string(kMaxHccnConfBytes) + " bytes");
  }
  return HccnConfReader(text).read();
}

}  // namespace chipweave::codec::ascend
