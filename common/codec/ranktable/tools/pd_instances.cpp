#include "common/codec/ranktable/tools/pd_instances.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/ranktable/schema/table_reader.hpp"

namespace chipweave::codec::ranktable {
namespace {

constexpr std::size_t kMaxShown = 120;  // bytes of a word in a message

Error bad(const std::string& option, std::string what) {
  return make_error(Errc::invalid_argument, "argument " + option + ": " + std::move(what));
}

Result<int> read_id(const std::string& option, std::string_view word, const std::string& item) {
  bool zeros = false;
  const auto id = strict_number(word, zeros);
  if (id && !zeros && *id >= 0 && *id <= kMaxDeviceId) return static_cast<int>(*id);
  const std::string shown = with_dots(item, kMaxShown);
  if (word.empty()) {
    return bad(option, "\"" + shown + "\" has an empty device id: write an instance as 4,5, " +
                           "without blanks");
  }
  return bad(option, "\"" + with_dots(word, kMaxShown) + "\" in \"" + shown +
                         "\" is no device id, a number from 0 to " + std::to_string(kMaxDeviceId));
}

Result<DeviceIds> read_instance(const std::string& option, const std::string& item) {
  DeviceIds out;
  std::string_view rest = item;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const Result<int> id = read_id(option, rest.substr(0, comma), item);
    if (!id) return id.error();
    out.push_back(*id);
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

class Reader {
 public:
  Result<std::vector<DeviceIds>> read(const std::string& option,
                                      const std::vector<std::string>& items) {
    std::vector<DeviceIds> out;
    for (const std::string& item : items) {
      Result<DeviceIds> ids = read_instance(option, item);
      if (!ids) return std::move(ids).error();
      if (Result<void> good = take(option, *ids); !good) return std::move(good).error();
      if (!out.empty() && out.front().size() != ids->size()) {
        return bad(option, "instances " + listed_ids(out.front()) + " and " + listed_ids(*ids) +
                               " differ in size, and all of one kind must have the same number of "
                               "devices (the tensor parallel size)");
      }
      out.push_back(*std::move(ids));
    }
    return out;
  }

 private:
  Result<void> take(const std::string& option, const DeviceIds& ids) {
    for (const int id : ids) {
      const auto [first, fresh] = users_.try_emplace(id, option + " " + listed_ids(ids));
      if (fresh) continue;
      return bad(option, "device " + std::to_string(id) + " of instance " + listed_ids(ids) +
                             " is used by " + first->second +
                             "; a device may stand once over prefill and decode");
    }
    const auto [first, fresh] = names_.try_emplace(joined_ids(ids), option + " " + listed_ids(ids));
    if (fresh) return {};
    return bad(option, "instance " + listed_ids(ids) + " and " + first->second +
                           " would both be written to the file of \"" + joined_ids(ids) +
                           "\"; give the devices of one of them in another order");
  }

  std::map<int, std::string> users_;          // device → "--option 4,5"
  std::map<std::string, std::string> names_;  // "45" → the same
};

}  // namespace

Result<PdInstances> read_pd_instances(const std::vector<std::string>& prefill,
                                      const std::vector<std::string>& decode, bool strict) {
  PdInstances out;
  Reader reader;
  auto first = reader.read("--prefill-server-list", prefill);
  if (!first) return std::move(first).error();
  out.prefill = *std::move(first);
  auto second = reader.read("--decode-server-list", decode);
  if (!second) return std::move(second).error();
  out.decode = *std::move(second);
  if (out.prefill.empty() || out.decode.empty()) return out;
  const std::size_t p = out.prefill.front().size();
  const std::size_t d = out.decode.front().size();
  if (p == d) return out;
  std::string what = "prefill instances have " + std::to_string(p) +
                     " devices and decode instances " + std::to_string(d) +
                     ", and the reference refuses that on one machine";
  if (strict) return bad("--decode-server-list", std::move(what));
  out.warnings.push_back(std::move(what));
  return out;
}

std::string joined_ids(const DeviceIds& ids) {
  std::string out;
  for (const int id : ids) out += std::to_string(id);
  return out;
}

std::string listed_ids(const DeviceIds& ids) { return comma_list(ids); }

}  // namespace chipweave::codec::ranktable
