#include "node-agent/ranktables/rank_table_options.hpp"

#include <algorithm>
#include <string_view>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxNamespaces = 64;  // each is a watch

}  // namespace

Result<std::vector<std::string>> read_rank_table_namespaces(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view one : split(text, ',')) {
    if (!is_dns_label(one)) {
      return make_error(Errc::invalid_argument,
                        "expected names of namespaces, comma separated, got " + in_quotes(text));
    }
    if (std::find(out.begin(), out.end(), one) != out.end())
      return make_error(Errc::invalid_argument, "has " + in_quotes(one) + " twice");
    if (out.size() == kMaxNamespaces) {
      return make_error(Errc::limit_exceeded,
                        "expected at most " + std::to_string(kMaxNamespaces) + " namespaces");
    }
    out.emplace_back(one);
  }
  return out;
}

}  // namespace chipweave::agent
