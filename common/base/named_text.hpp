// NamedText — a file as a value: its name and what it holds.
#pragma once

#include <string>

namespace chipweave {

struct NamedText {
  std::string name;
  std::string text;
};

}  // namespace chipweave
