// XmlDocument — one XML text, read under the limits of limits.hpp; its errors name line, column
// and element.
//
// Included by .cpp files of this folder only: so that pugixml stays inside common/codec.
#pragma once

#include <cstddef>
#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec {

// Name of the first element within the first 64 KiB; "" if there is none or the text is not XML.
// Skips a byte order mark, declarations, comments and a DOCTYPE.
std::string_view root_element_name(std::string_view content);

class XmlDocument {
 public:
  // content must outlive the document (positions are computed from it). Rejects more than
  // kMaxTopologyFileBytes, kMaxXmlNodes or kMaxXmlDepth, malformed XML, another root element than
  // `root`. Entities are not expanded.
  static Result<XmlDocument> parse(std::string_view content, std::string_view root);

  pugi::xml_node root() const { return document_->document_element(); }
  // "line 3, column 14 (<gpu>)"
  std::string where(pugi::xml_node node) const;
  // An invalid_argument error at a node.
  Error error(pugi::xml_node node, std::string message) const;
  // An error if there are `most` already and `where` is one more.
  Result<void> room(pugi::xml_node where, std::size_t present, std::size_t most,
                    const char* what) const;
  // Integer attribute in lowest..highest; absent or unreadable: an error that names node and
  // attribute.
  Result<int> integer(pugi::xml_node node, const char* attribute, int lowest, int highest) const;

 private:
  std::string_view content_;
  std::unique_ptr<pugi::xml_document> document_;
};

}  // namespace chipweave::codec
