// Natural order of names: runs of digits compare as numbers, so that n2 comes before n10.
#pragma once

#include <string_view>

namespace chipweave {

// A strict weak order that is total: names that differ only in leading zeros compare by bytes.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace chipweave
