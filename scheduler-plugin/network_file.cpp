#include "scheduler-plugin/network_file.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/import.hpp"
#include "common/io/files.hpp"

namespace chipweave::sched {

Result<std::unique_ptr<NetworkFile>> NetworkFile::open(std::string path, Network& network) {
  std::unique_ptr<NetworkFile> out(new NetworkFile(std::move(path), network));
  out->stamp_ = io::FileStamp::of(out->path_);
  if (auto read = out->read(); !read) return std::move(read).error();
  return out;
}

void NetworkFile::check() {
  const io::FileStamp now = io::FileStamp::of(path_);
  if (now == stamp_) return;
  stamp_ = now;
  const auto done = read();
  network_.set_problem(NetworkSource::file, done ? std::string() : done.error().text());
}

Result<void> NetworkFile::read() {
  if (stamp_.exists && !stamp_.regular)  // reading a pipe would block
    return make_error(Errc::invalid_argument, "not a regular file").in(path_);
  const auto content = io::read_file(path_, limits::kMaxNetworkFileBytes);
  if (!content) return Error(content.error());
  auto imported = codec::import_network(*content);
  if (!imported) return std::move(imported).error().in(path_);
  network_.set_table(NetworkSource::file, std::move(imported->table));
  return {};
}

}  // namespace chipweave::sched
