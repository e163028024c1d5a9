#include "common/codec/mindcluster/names/device_ids.hpp"

#include "common/base/text.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"

namespace chipweave::codec::mindcluster {
namespace {

// The part after "huawei.com/" and the prefix: "" for chips, "-2c" for slices; nullopt: another
// resource.
std::optional<std::string_view> kind_of(std::string_view prefix, std::string_view resource) {
  if (!resource.starts_with(kResourceDomain)) return std::nullopt;
  resource.remove_prefix(kResourceDomain.size());
  if (!resource.starts_with(prefix)) return std::nullopt;
  resource.remove_prefix(prefix.size());
  if (resource.empty()) return resource;
  const bool a_template = resource.size() > 1 && resource[0] == '-' && is_digit(resource[1]);
  return a_template ? std::optional(resource) : std::nullopt;
}

}  // namespace

DeviceKind device_kind(std::string_view prefix, std::string_view resource) {
  const auto kind = kind_of(prefix, resource);
  if (!kind) return DeviceKind::other;
  return kind->empty() ? DeviceKind::chip : DeviceKind::slice;
}

std::optional<int> chip_of_device(std::string_view prefix, std::string_view resource,
                                  std::string_view id) {
  const auto kind = kind_of(prefix, resource);
  if (!kind) return std::nullopt;
  if (kind->empty()) return chip_of_name(prefix, id);
  // The part before "-100-1" is the resource's own name; both numbers must be present.
  const std::string_view name = resource.substr(kResourceDomain.size());
  const std::size_t last = id.rfind('-');
  if (!id.starts_with(name) || last == std::string_view::npos || last <= name.size() ||
      !chip_of_name(name, id.substr(0, last))) {
    return std::nullopt;
  }
  return chip_of_name(id.substr(0, last), id);
}

}  // namespace chipweave::codec::mindcluster
