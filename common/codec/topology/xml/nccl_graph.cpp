// NCCL graph XML (NCCL_GRAPH_FILE): a ready-made list of rings and trees. It names the chips and
// the worst path between them, not the links: good for a chip count, not for placement.
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/xml/xml_document.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

Result<std::set<int>> devices(const XmlDocument& document) {
  std::set<int> out;
  for (const pugi::xml_node graph : document.root().children("graph")) {
    for (const pugi::xml_node channel : graph.children("channel")) {
      for (const pugi::xml_node gpu : channel.children("gpu")) {
        const Result<int> dev = document.integer(gpu, "dev", 0, limits::kMaxChipIndex);
        if (!dev) return dev.error();
        out.insert(*dev);
        if (auto room = document.room(gpu, out.size() - 1, limits::kMaxChips, "GPUs"); !room)
          return std::move(room).error();
      }
    }
  }
  if (out.empty()) return document.error(document.root(), "no <gpu dev> in any channel");
  return out;
}

}  // namespace

bool looks_like_nccl_graph(std::string_view content) {
  return root_element_name(content) == "graphs";
}

Result<ImportedTopology> import_nccl_graph(std::string_view content, const ImportOptions& options) {
  Result<XmlDocument> document = XmlDocument::parse(content, "graphs");
  if (!document) return std::move(document).error();
  const pugi::xml_attribute version = document->root().attribute("version");
  if (parse_int(version.value()) != 1) {
    return make_error(Errc::unsupported, document->where(document->root()) +
                                             ": version of the NCCL graph format must be 1, got " +
                                             quoted_excerpt(version.value()));
  }
  const Result<std::set<int>> found = devices(*document);
  if (!found) return found.error();
  std::vector<std::string> warnings = {
      "this is an NCCL graph, a list of rings, not a topology: it does not tell which chips are "
      "linked"};
  const std::string_view type = document->root().child("graph").attribute("typeintra").value();
  std::optional<LinkKind> kind = domain::parse_link_kind(type);
  if (!kind || !domain::is_host_path(*kind) || *kind == LinkKind::self) {
    kind = LinkKind::sys;
    warnings.push_back("typeintra " + quoted_excerpt(type) +
                       " is not a host path: all pairs are taken as SYS");
  }
  domain::TopologyBuilder builder;
  builder.model = options.model;
  for (const int dev : *found) {
    domain::Chip chip;
    chip.index = ChipIndex{dev};
    chip.model = options.model;
    builder.add_chip(std::move(chip));
  }
  for (auto a = found->begin(); a != found->end(); ++a) {
    for (auto b = std::next(a); b != found->end(); ++b)
      builder.add_link(ChipIndex{*a}, ChipIndex{*b}, *kind);
  }
  return imported(std::move(builder), "nccl-graph", std::move(warnings));
}

}  // namespace chipweave::codec
