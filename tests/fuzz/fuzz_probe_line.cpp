// Lines of the probe process, possibly written by a broken vendor library: each is read or rejected
// with a message, and what is read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/agent/probe_line.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

using chipweave::codec::ProbeLineReader;
using chipweave::codec::ProbeLineWriter;
using chipweave::codec::require;

void check(ProbeLineReader& reader, std::string_view line) {
  const auto read = reader.read(line);
  chipweave::codec::require_words(read);
  if (!read) return;
  if (const auto* events = std::get_if<chipweave::codec::ProbeEvents>(&*read)) {
    const std::string once = ProbeLineWriter::events(events->events);
    require(once.find('\n') == once.size() - 1);
    const auto again = ProbeLineReader().read(std::string_view(once).substr(0, once.size() - 1));
    require(again.ok() || events->events.empty());
  }
  if (const auto* sample = std::get_if<chipweave::domain::MetricsSample>(&*read)) {
    const std::string once = ProbeLineWriter::metrics(*sample);
    require(once.find('\n') == once.size() - 1);
    const auto again = ProbeLineReader().read(std::string_view(once).substr(0, once.size() - 1));
    require(again.ok());
    require(ProbeLineWriter::metrics(std::get<chipweave::domain::MetricsSample>(again.value())) ==
            once);
  }
  const auto* seen = std::get_if<chipweave::domain::Observation>(&*read);
  if (seen == nullptr) return;
  const std::string once = ProbeLineWriter().observation(*seen);
  require(once.find('\n') == once.size() - 1);
  const auto again = ProbeLineReader().read(std::string_view(once).substr(0, once.size() - 1));
  require(again.ok());
  require(ProbeLineWriter().observation(std::get<chipweave::domain::Observation>(again.value())) ==
          once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ProbeLineReader reader;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    check(reader, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
