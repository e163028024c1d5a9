#include "common/codec/ranktable/tools/pd_instances.hpp"

#include <map>
#include <utility>

#include "common/base/foreign_text.hpp"

namespace chipweave::codec::ranktable {
namespace {

Result<DeviceIds> read_instance(const std::string& option, const std::string& item) {
  DeviceIds out;
  for (const std::string_view word : split(item, ',')) {
    if (word.empty()) {
      return argument_error(option, in_quotes(item),
                            " has an empty device id: write an instance as 4,5, without blanks");
    }
    const auto id = whole_number(word, kMaxDeviceId);
    if (!id) {
      return argument_error(option, "expected a device id from 0 to ", kMaxDeviceId, ", got ",
                            in_quotes(word), " in ", in_quotes(item));
    }
    out.push_back(static_cast<int>(*id));
  }
  return out;
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
        return argument_error(option, "instances ", comma_list(out.front()), " and ",
                              comma_list(*ids),
                              " differ in size; all instances of a kind must "
                              "have the same number of devices (the tensor parallel size)");
      }
      out.push_back(*std::move(ids));
    }
    return out;
  }

 private:
  Result<void> take(const std::string& option, const DeviceIds& ids) {
    for (const int id : ids) {
      const auto [first, is_new] = users_.try_emplace(id, option + " " + comma_list(ids));
      if (is_new) continue;
      return argument_error(option, "device ", id, " of instance ", comma_list(ids), " is used by ",
                            first->second, "; a device may belong to one instance only");
    }
    std::string joined;
    for (const int id : ids) joined += std::to_string(id);
    const auto [first, is_new] = names_.try_emplace(joined, option + " " + comma_list(ids));
    if (is_new) return {};
    return argument_error(option, "instance ", comma_list(ids), " and ", first->second,
                          " would both be written to the file of \"", joined,
                          "\"; list the devices of one of them in another order");
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
  std::string what = concat("prefill instances have ", p, " devices and decode instances ", d,
                            ", which the reference rejects on one machine");
  if (strict) return argument_error("--decode-server-list", what);
  out.warnings.push_back(std::move(what));
  return out;
}

}  // namespace chipweave::codec::ranktable
