#include "scheduler-plugin/state/network/level_nesting.hpp"

namespace chipweave::sched {

void append_element(std::string& to, const std::string& element) {
  to += std::to_string(element.size());
  to += ':';
  to += element;
}

void LevelNesting::Pairs::add(const std::string& key, const std::string& value) {
  auto& of_key = values[key];
  if (++of_key[value] == 1 && of_key.size() == 2) ++ambiguous;
}

void LevelNesting::Pairs::remove(const std::string& key, const std::string& value) {
  const auto of_key = values.find(key);
  const auto at = of_key->second.find(value);
  if (--at->second > 0) return;
  of_key->second.erase(at);
  if (of_key->second.size() == 1) --ambiguous;
  if (of_key->second.empty()) values.erase(of_key);
}

template <class Each>
void LevelNesting::each_pair(const NetworkPath& place, const NetworkPath& accelerator,
                             const Each& each) {
  std::string whole;
  for (const std::string& element : accelerator) append_element(whole, element);
  const bool inside = !accelerator.empty() && !accelerator.front().empty();
  std::string above;
  if (inside) each(above_[0], accelerator.front(), above);
  for (std::size_t level = 0; level < below_.size(); ++level) {
    if (level >= place.size() || place[level].empty()) return;
    append_element(above, place[level]);
    each(below_[level], above, whole);
    if (inside) each(above_[level + 1], accelerator.front(), above);
  }
}

void LevelNesting::add(const NetworkPath& place, const NetworkPath& accelerator) {
  each_pair(place, accelerator, [](Pairs& pairs, const std::string& key, const std::string& value) {
    pairs.add(key, value);
  });
}

void LevelNesting::remove(const NetworkPath& place, const NetworkPath& accelerator) {
  each_pair(place, accelerator, [](Pairs& pairs, const std::string& key, const std::string& value) {
    pairs.remove(key, value);
  });
}

int LevelNesting::position() const {
  for (std::size_t levels = above_.size(); levels-- > 0;) {
    const bool fits_above = above_[levels].ambiguous == 0;
    const bool fits_below = levels == below_.size() || below_[levels].ambiguous == 0;
    if (fits_above && fits_below) return static_cast<int>(levels);
  }
  return -1;
}

}  // namespace chipweave::sched
