// tar (ustar, GNU long names, pax paths), plain or gzipped. Paths are only keys of a map: nothing
// is ever written to disk, so "../" is harmless.
#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/io/files.hpp"
#include "common/io/gzip.hpp"

namespace chipweave::io {
namespace {

constexpr std::size_t kBlock = 512;

// A NUL- or space-terminated octal field, or GNU's base-256 form (first bit set).
std::optional<std::uint64_t> number_field(std::string_view field) {
  std::uint64_t value = 0;
  if (!field.empty() && (static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      const unsigned byte = static_cast<unsigned char>(field[i]) & (i == 0 ? 0x7FU : 0xFFU);
      if (value >> 48U != 0) return std::nullopt;
      value = (value << 8U) | byte;
    }
    return value;
  }
  bool digits = false;
  for (const char c : field) {
    if (c == '\0' || (c == ' ' && digits)) break;
    if (c == ' ') continue;
    if (c < '0' || c > '7' || value >> 48U != 0) return std::nullopt;
    value = value * 8 + static_cast<unsigned>(c - '0');
    digits = true;
  }
  return value;
}

std::string text_field(std::string_view field) {
  return std::string(field.substr(0, std::min(field.find('\0'), field.size())));
}

// The header's own sum, taken with the sum field as blanks.
bool checksum_matches(std::string_view header) {
  const auto stored = number_field(header.substr(148, 8));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return stored && *stored == sum;
}

// "27 path=some/where\n" records of a pax header: the path, if there is one.
std::optional<std::string> pax_path(std::string_view records) {
  std::optional<std::string> path;
  while (!records.empty()) {
    const std::size_t blank = records.find(' ');
    if (blank == std::string_view::npos || blank == 0 || blank > 9) return path;
    const auto length = parse_number<std::size_t>(records.substr(0, blank));
    if (!length || *length <= blank + 1 || *length > records.size()) return path;
    const std::string_view record = records.substr(blank + 1, *length - blank - 2);
    constexpr std::string_view kKey = "path=";
    if (record.starts_with(kKey)) path = std::string(record.substr(kKey.size()));
    records.remove_prefix(*length);
  }
  return path;
}

// Walks the entries; long names of a preceding entry are kept for the next one.
class TarReader {
 public:
  explicit TarReader(std::string_view archive) : rest_(archive) {}

  Result<codec::FileTree> read() {
    bool any = false;
    bool ended = false;
    while (rest_.size() >= kBlock) {
      const std::string_view header = rest_.substr(0, kBlock);
      ended = header.find_first_not_of('\0') == std::string_view::npos;
      if (ended) break;
      if (!checksum_matches(header)) {
        return make_error(
            Errc::invalid_argument,
            any ? "the tar archive is damaged (wrong checksum of an entry)" : "not a tar archive");
      }
      any = true;
      const auto size = number_field(header.substr(124, 12));
      if (!size || *size > rest_.size() - kBlock) {
        return make_error(Errc::invalid_argument, "the tar archive ends inside an entry");
      }
      if (++entries_ > 2 * limits::kMaxArchiveFiles || tree_.size() > limits::kMaxArchiveFiles) {
        return make_error(
            Errc::limit_exceeded,
            "the archive holds more than " + std::to_string(limits::kMaxArchiveFiles) + " files");
      }
      take(header, rest_.substr(kBlock, static_cast<std::size_t>(*size)));
      const std::size_t padded = (static_cast<std::size_t>(*size) + kBlock - 1) / kBlock * kBlock;
      rest_.remove_prefix(std::min(rest_.size(), kBlock + padded));
    }
    if (!any) return make_error(Errc::invalid_argument, "not a tar archive");
    if (!ended) {
      return make_error(Errc::invalid_argument,
                        "the tar archive ends without its end mark: it is cut off");
    }
    return std::move(tree_);
  }

 private:
  void take(std::string_view header, std::string_view body) {
    const char type = header[156];
    if (type == 'L') {  // GNU: the name of the next entry
      next_name_ = text_field(body);
      return;
    }
    if (type == 'x') {
      if (auto path = pax_path(body)) next_name_ = std::move(*path);
      return;
    }
    if (type == 'g' || type == 'K') return;
    std::string name = next_name_ ? std::move(*next_name_) : own_name(header);
    next_name_.reset();
    if (type != '0' && type != '\0' && type != '7') return;  // folders, links, devices
    while (name.starts_with("./")) name.erase(0, 2);
    if (!name.empty()) tree_[name] = std::string(body);
  }

  static std::string own_name(std::string_view header) {
    std::string name = text_field(header.substr(0, 100));
    if (header.substr(257, 6) != std::string_view("ustar\0", 6)) return name;
    const std::string prefix = text_field(header.substr(345, 155));
    return prefix.empty() ? name : prefix + "/" + name;
  }

  std::string_view rest_;
  std::optional<std::string> next_name_;
  std::size_t entries_ = 0;
  codec::FileTree tree_;
};

}  // namespace

Result<codec::FileTree> read_tar(const std::string& content) {
  if (!is_gzip(content)) {
    if (content.size() > limits::kMaxUnpackedArchiveBytes) {
      return make_error(Errc::limit_exceeded,
                        "the archive unpacks to more than " +
                            std::to_string(limits::kMaxUnpackedArchiveBytes >> 20U) + " MiB");
    }
    return TarReader(content).read();
  }
  Result<std::string> plain = gunzip(content, limits::kMaxUnpackedArchiveBytes);
  if (!plain) return std::move(plain).error();
  return TarReader(*plain).read();
}

}  // namespace chipweave::io
