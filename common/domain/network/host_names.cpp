#include "common/domain/network/host_names.hpp"

#include <algorithm>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave::domain {
namespace {

constexpr std::size_t kMaxLabels = 8;  // dots of a name that count

// An IPv4 address has dots that separate no domains.
bool is_domain_name(std::string_view name) {
  return name.find_first_not_of("0123456789.") != std::string_view::npos;
}

}  // namespace

std::string HostNames::Match::ambiguity(std::string_view name) const {
  if (candidates.empty()) return "";
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(candidates.size(), kShown); ++i) {
    shown.emplace_back(candidates[i]);
  }
  return concat(in_quotes(name), " could be ", joined(shown, " or "),
                candidates.size() > kShown ? concat(" or ", candidates.size() - kShown, " more")
                                           : std::string());
}

HostNames::HostNames(const std::vector<std::string_view>& names) : names_(names) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::string_view name = names_[i];
    if (!exact_.emplace(name, i).second || !is_domain_name(name)) continue;
    std::size_t dot = name.find('.', 1);
    for (std::size_t label = 0; label < kMaxLabels && dot != name.npos; ++label) {
      shorter_[name.substr(0, dot)].push_back(i);
      dot = name.find('.', dot + 1);
    }
  }
}

std::optional<std::size_t> HostNames::exact(std::string_view name) const {
  const auto at = exact_.find(name);
  return at == exact_.end() ? std::nullopt : std::optional(at->second);
}

HostNames::Match HostNames::find(std::string_view name) const {
  if (const auto same = exact(name)) return {same, {}};
  if (!is_domain_name(name)) return {};
  std::size_t dot = name.rfind('.');
  for (std::size_t label = 0; label < kMaxLabels && dot != name.npos && dot > 0; ++label) {
    if (const auto shorter = exact(name.substr(0, dot))) return {shorter, {}};
    dot = name.rfind('.', dot - 1);
  }
  const auto longer = shorter_.find(name);
  if (longer == shorter_.end()) return {};
  if (longer->second.size() == 1) return {longer->second.front(), {}};
  Match out;
  for (const std::size_t index : longer->second) out.candidates.push_back(names_[index]);
  return out;
}

}  // namespace chipweave::domain
