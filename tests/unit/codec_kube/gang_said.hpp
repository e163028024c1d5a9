// Reads owner objects of gangs, and says what they say.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/codec/kube/gangs/gang_object.hpp"
#include "tests/unit/codec_kube/gang_text.hpp"

namespace chipweave::codec {

inline const GangSource& source_of(std::string_view setting, std::string_view kind) {
  for (const GangSource& one : gang_sources())
    if (setting == one.setting && kind == one.kind) return one;
  throw std::runtime_error("no such kind");
}

inline KubeGangObject object_of(std::string spec) {
  KubeGangObject out;
  out.ns = "team";
  out.name = "train";
  out.spec = std::move(spec);
  return out;
}

// "framework/name: spec", a line a gang; or why it cannot be read.
inline std::string said(const GangSource& source, const KubeGangObject& object) {
  const auto gangs = read_gangs(source, object);
  if (!gangs) return gangs.error().text();
  std::string out;
  for (const DeclaredGang& gang : *gangs)
    out += (out.empty() ? "" : "\n") + gang.framework + "/" + gang.name + ": " + text_of(gang.spec);
  return out;
}
inline std::string said(std::string_view setting, std::string_view kind, std::string spec) {
  return said(source_of(setting, kind), object_of(std::move(spec)));
}

}  // namespace chipweave::codec
