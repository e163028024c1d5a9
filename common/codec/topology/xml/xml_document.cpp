#include "common/codec/topology/xml/xml_document.hpp"

#include <algorithm>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kLookAtBytes = 64U << 10U;

// Drops one declaration, comment or DOCTYPE from the front; false if the text does not start with
// one that ends.
bool drop_prolog_item(std::string_view& text) {
  const auto drop_to = [&text](std::string_view end) {
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + end.size());
    return true;
  };
  if (text.substr(0, 4) == "<!--") return drop_to("-->");
  if (text.substr(0, 2) == "<?") return drop_to("?>");
  if (text.substr(0, 2) != "<!") return false;
  // A DOCTYPE may hold an internal subset in brackets.
  const std::size_t bracket = text.find('[');
  const std::size_t close = text.find('>');
  return bracket < close ? drop_to("]") && drop_to(">") : drop_to(">");
}

// The numbers of '<' and '=' in the text bound what pugixml allocates; they are checked before
// parsing.
bool too_many_nodes(std::string_view content) {
  const auto tags = std::count(content.begin(), content.end(), '<');
  const auto attributes = std::count(content.begin(), content.end(), '=');
  return static_cast<std::size_t>(tags) > 2 * limits::kMaxXmlNodes ||
         static_cast<std::size_t>(attributes) > 10 * limits::kMaxXmlNodes;
}

// First element deeper than the limit, or null. Iterative: the text decides how deep the tree is.
pugi::xml_node too_deep(pugi::xml_node root) {
  int depth = 1;
  pugi::xml_node node = root;
  while (node) {
    if (depth > limits::kMaxXmlDepth) return node;
    if (pugi::xml_node child = node.first_child()) {
      node = child;
      ++depth;
      continue;
    }
    while (node != root && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (node == root) return {};
    node = node.next_sibling();
  }
  return {};
}

}  // namespace

std::string_view root_element_name(std::string_view content) {
  std::string_view text = content.substr(0, kLookAtBytes);
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  text = trim(text);
  while (drop_prolog_item(text)) text = trim(text);
  if (text.empty() || text.front() != '<') return "";
  text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" \t\r\n/>"));
}

Result<XmlDocument> XmlDocument::parse(std::string_view content, std::string_view root) {
  if (content.size() > limits::kMaxTopologyFileBytes) {
    return make_error(Errc::limit_exceeded, "must be at most " +
                                                std::to_string(limits::kMaxTopologyFileBytes) +
                                                " bytes, got " + std::to_string(content.size()));
  }
  if (too_many_nodes(content)) {
    return make_error(Errc::limit_exceeded,
                      "more than " + std::to_string(limits::kMaxXmlNodes) + " XML elements");
  }
  XmlDocument out;
  out.content_ = content;
  out.document_ = std::make_unique<pugi::xml_document>();
  const pugi::xml_parse_result parsed = out.document_->load_buffer(
      content.data(), content.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    const std::size_t at = parsed.offset < 0 ? 0 : static_cast<std::size_t>(parsed.offset);
    return make_error(Errc::invalid_argument, text_position(content, at) +
                                                  ": not well-formed XML: " + parsed.description());
  }
  const pugi::xml_node element = out.root();
  if (element.name() != root) {
    return out.error(element, "the root element must be <" + std::string(root) + ">, got " +
                                  quoted_excerpt(element.name()));
  }
  for (pugi::xml_node next = element.next_sibling(); next; next = next.next_sibling()) {
    if (next.type() != pugi::node_element) continue;
    return out.error(next, "a second root element; the file must hold one document");
  }
  if (const pugi::xml_node deep = too_deep(element)) {
    return make_error(Errc::limit_exceeded, out.where(deep) + ": elements must nest at most " +
                                                std::to_string(limits::kMaxXmlDepth) + " deep");
  }
  return out;
}

std::string XmlDocument::where(pugi::xml_node node) const {
  const std::ptrdiff_t offset = node.offset_debug();
  const std::string at = text_position(content_, offset < 0 ? 0 : static_cast<std::size_t>(offset));
  return at + " (<" + std::string(std::string_view(node.name()).substr(0, 40)) + ">)";
}

Error XmlDocument::error(pugi::xml_node node, std::string message) const {
  return make_error(Errc::invalid_argument, where(node) + ": " + std::move(message));
}

Result<void> XmlDocument::room(pugi::xml_node where, std::size_t present, std::size_t most,
                               const char* what) const {
  if (present < most) return {};
  return make_error(Errc::limit_exceeded,
                    this->where(where) + ": more than " + std::to_string(most) + " " + what);
}

Result<int> XmlDocument::integer(pugi::xml_node node, const char* attribute, int lowest,
                                 int highest) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  const std::optional<std::int64_t> value = parse_int(found.value());
  if (!value || *value < lowest || *value > highest) {
    return error(node, std::string("attribute ") + attribute + " must be a number from " +
                           std::to_string(lowest) + " to " + std::to_string(highest) +
                           (found ? ", got " + quoted_excerpt(found.value()) : " and is missing"));
  }
  return static_cast<int>(*value);
}

}  // namespace chipweave::codec
