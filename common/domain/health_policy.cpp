#include "common/domain/health_policy.hpp"

namespace chipweave::domain {

std::string_view to_string(Effect effect) {
  switch (effect) {
    case Effect::note:
      return "note";
    case Effect::link:
      return "link";
    case Effect::network:
      return "network";
    case Effect::unusable:
      return "unusable";
  }
  return "note";
}

}  // namespace chipweave::domain
