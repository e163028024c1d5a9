#include "node-agent/dra/dra_options.hpp"

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::agent::dra {

Result<void> check_driver_name(const std::string& name) {
  if (!is_dns_subdomain(name) || name.size() > limits::kMaxLabelBytes ||
      name.find('.') == std::string::npos) {
    return make_error(
        Errc::invalid_argument,
        "expected a DNS name of at most 63 characters such as gpu.chipweave.dev, got " +
            in_quotes(name));
  }
  // By that name the scheduler knows that the devices are the node's chips.
  if (!domain::is_own_driver(name)) {
    return make_error(Errc::invalid_argument,
                      "expected a name that ends with .chipweave.dev, such as gpu.chipweave.dev, "
                      "got " +
                          in_quotes(name));
  }
  return {};
}

Result<void> check_cdi_kind(const std::string& kind) {
  const std::size_t slash = kind.find('/');
  if (slash != std::string::npos && is_dns_subdomain(kind.substr(0, slash)) &&
      is_dns_label(kind.substr(slash + 1)))
    return {};
  return make_error(
      Errc::invalid_argument,
      "expected a kind of CDI devices such as nvidia.com/gpu, got " + in_quotes(kind));
}

}  // namespace chipweave::agent::dra
