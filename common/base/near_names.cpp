#include "common/base/near_names.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"

namespace chipweave {
namespace {

constexpr std::size_t kMaxCompared = 64;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (lower_case(a[i - 1]) == lower_case(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> near_names(std::string_view typed,
                                         const std::vector<std::string_view>& known,
                                         std::size_t most) {
  std::vector<std::string_view> out;
  if (typed.empty() || typed.size() > kMaxCompared) return out;
  std::vector<std::pair<std::size_t, std::string_view>> found;
  const std::size_t allowed = typed.size() <= 3 ? 1 : (typed.size() <= 8 ? 2 : 3);
  for (const std::string_view name : known) {
    if (name.size() > kMaxCompared) continue;
    const std::size_t d = edit_distance(typed, name);
    if (d <= allowed || (typed.size() >= 3 && starts_with(name, typed)))
      found.emplace_back(d, name);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& l, const auto& r) { return l.first < r.first; });
  for (const auto& [d, name] : found) {
    if (out.size() < most) out.push_back(name);
  }
  return out;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string_view>& known) {
  const std::vector<std::string_view> near = near_names(typed, known);
  if (near.empty()) return "";
  std::string out = " (did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) out += i + 1 == near.size() ? " or " : ", ";
    out += '"';
    out += near[i];
    out += '"';
  }
  return out + "?)";
}

std::string unknown_name(std::string_view what, std::string_view typed,
                         const std::vector<std::string_view>& known) {
  const std::string out =
      "unknown " + std::string(what) + " " + in_quotes(typed) + did_you_mean(typed, known);
  return known.empty() ? out : out + "; known: " + joined(known, ", ");
}

}  // namespace chipweave
