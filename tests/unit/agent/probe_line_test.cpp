#include "common/codec/agent/probe_line.hpp"

#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "tests/fakes/agent/machines.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::Observation;
using domain::SignalKind;

Observation full() {
  Observation out{"box", agent::ring_of_four(), {"a warning"}};
  out.ports = {{ChipIndex{0}, 3, ChipIndex{1}, true}, {ChipIndex{2}, 0, std::nullopt, false}};
  out.signals = {
      {SignalKind::event, "xid.79", ChipIndex{3}, std::nullopt, "", 0, "fell off the bus"},
      {SignalKind::counter, "nvlink.crc", ChipIndex{0}, 3, "", 17, ""},
      {SignalKind::reading, "amd.temperature", ChipIndex{1}, std::nullopt, "", 61.5, ""},
      {SignalKind::state, "nic.down", std::nullopt, std::nullopt, "mlx5_0", 0, "polling"}};
  out.neighbours = {{"mlx5_0", std::nullopt, "leaf-1", "Ethernet1/3", "192.0.2.1"},
                    {"", ChipIndex{2}, "", "400GE1/1/20:2", ""}};
  out.facts = {{"driver", "550.54.15"}};
  return out;
}

Observation observation_of(Result<ProbeLine> line) {
  EXPECT_TRUE(line.ok()) << line.error().text();
  return std::get<Observation>(std::move(line).value());
}

std::string without_end(std::string line) {
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  line.pop_back();
  return line;
}

TEST(ProbeLine, CarriesTheWholeObservation) {
  ProbeLineWriter writer;
  ProbeLineReader reader;
  const Observation seen = full();
  const Observation read = observation_of(reader.read(without_end(writer.observation(seen))));
  EXPECT_EQ(read.machine, "box");
  EXPECT_EQ(export_topology_json(read.topology), export_topology_json(seen.topology));
  EXPECT_EQ(read.warnings, seen.warnings);
  EXPECT_EQ(read.facts, seen.facts);
  ASSERT_EQ(read.ports.size(), 2U);
  EXPECT_EQ(read.ports[0].peer, ChipIndex{1});
  EXPECT_TRUE(read.ports[0].up);
  EXPECT_EQ(read.ports[1].peer, std::nullopt);
  EXPECT_FALSE(read.ports[1].up);
  ASSERT_EQ(read.signals.size(), 4U);
  EXPECT_EQ(read.signals[0].kind, SignalKind::event);
  EXPECT_EQ(read.signals[0].text, "fell off the bus");
  EXPECT_EQ(read.signals[1].port, 3);
  EXPECT_EQ(read.signals[1].value, 17);
  EXPECT_EQ(read.signals[2].value, 61.5);
  EXPECT_EQ(read.signals[3].chip, std::nullopt);
  EXPECT_EQ(read.signals[3].nic, "mlx5_0");
  ASSERT_EQ(read.neighbours.size(), 2U);
  EXPECT_EQ(read.neighbours[0].system, "leaf-1");
  EXPECT_EQ(read.neighbours[1].chip, ChipIndex{2});
}

TEST(ProbeLine, CarriesEventsWithoutAMachine) {
  ProbeLineReader reader;
  const std::vector<domain::Signal> events = {
      {SignalKind::event, "xid.79", ChipIndex{3}, std::nullopt, "", 0, "fell off", "0000:04:00.0"},
      {SignalKind::event, "nvml.reset", std::nullopt, std::nullopt, "", 0, ""}};
  const auto line = reader.read(without_end(ProbeLineWriter::events(events)));
  ASSERT_TRUE(line.ok()) << line.error().text();
  const auto& read = std::get<ProbeEvents>(*line).events;
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].code, "xid.79");
  EXPECT_EQ(read[0].chip, ChipIndex{3});
  EXPECT_EQ(read[0].pci, "0000:04:00.0");
  EXPECT_EQ(read[0].text, "fell off");
  EXPECT_EQ(read[1].chip, std::nullopt);
  const auto state = reader.read(R"({"events":[{"kind":"state","code":"nvml.lost"}]})");
  ASSERT_FALSE(state.ok());
  EXPECT_NE(state.error().text().find("entry 0"), std::string::npos) << state.error().text();
}

TEST(ProbeLine, TheTopologyIsWrittenOnlyWhenItChanges) {
  ProbeLineWriter writer;
  ProbeLineReader reader;
  Observation seen = full();
  const std::string first = without_end(writer.observation(seen));
  seen.signals.clear();
  const std::string second = without_end(writer.observation(seen));
  EXPECT_NE(first.find("\"topology\""), std::string::npos);
  EXPECT_EQ(second.find("\"topology\""), std::string::npos);
  observation_of(reader.read(first));
  const Observation read = observation_of(reader.read(second));
  EXPECT_TRUE(read.signals.empty());
  EXPECT_EQ(export_topology_json(read.topology), export_topology_json(seen.topology));

  ASSERT_TRUE(seen.topology.take_down(0, 1, 1));
  const std::string third = without_end(writer.observation(seen));
  EXPECT_EQ(observation_of(reader.read(third)).topology.link(0, 1)->lanes_down, 1);
}

TEST(ProbeLine, CarriesHeartbeatsAndFailures) {
  ProbeLineReader reader;
  const auto alive = reader.read(without_end(ProbeLineWriter::alive()));
  ASSERT_TRUE(alive.ok());
  EXPECT_TRUE(std::holds_alternative<ProbeAlive>(*alive));
  const auto failure = reader.read(
      without_end(ProbeLineWriter::failure(make_error(Errc::not_found, "no \"GPU\"\nhere"))));
  ASSERT_TRUE(failure.ok());
  EXPECT_EQ(std::get<Error>(*failure).code, Errc::not_found);
  EXPECT_EQ(std::get<Error>(*failure).message, "no \"GPU\"\nhere");
}

TEST(ProbeLine, AnnouncesAMeasurement) {
  ProbeLineReader reader;
  const auto line = reader.read(without_end(ProbeLineWriter::measuring()));
  ASSERT_TRUE(line.ok()) << line.error().text();
  EXPECT_TRUE(std::holds_alternative<ProbeMeasuring>(*line));
  const auto problem = [](const std::string& text) {
    const auto read = ProbeLineReader().read(text);
    return read.ok() ? "read" : read.error().text();
  };
  EXPECT_EQ(problem(R"( { "measuring" : true } )"), "read");
  EXPECT_EQ(problem(R"({"measuring":false})"), "measuring: must be true");
  EXPECT_EQ(problem(R"({"measuring":1})"), "measuring: expected true or false, got 1");
  EXPECT_NE(problem(R"({"measuring":true,"metrics":[]})").find("metrics"), std::string::npos);
  EXPECT_NE(problem(R"({"measuring":true,"alive":true})").find("alive"), std::string::npos);
}

TEST(ProbeLine, ABrokenLineIsAnErrorThatNamesThePlace) {
  const std::string start = R"({"machine":"m","topology":{"chips":[{"index":0}]},"facts":{})";
  const auto problem = [](const std::string& line) {
    const auto read = ProbeLineReader().read(line);
    return read.ok() ? "read" : read.error().text();
  };
  EXPECT_EQ(problem(start + "}"), "read");
  EXPECT_NE(problem("").find("line 1"), std::string::npos) << problem("");
  EXPECT_EQ(problem("[]"), "expected an object, got a list");
  EXPECT_NE(problem(R"({"machine":"m","facts":{}})").find("topology: is missing"),
            std::string::npos);
  EXPECT_NE(problem(start + R"(,"signals":[{"kind":"rumour","code":"x"}]})")
                .find("signals[0].kind: must be one of"),
            std::string::npos);
  EXPECT_NE(problem(start + R"(,"signals":[{"kind":"state","code":""}]})").find("signals[0].code"),
            std::string::npos);
  EXPECT_NE(problem(start + R"(,"ports":[{"chip":-1,"number":0}]})").find("ports[0].chip"),
            std::string::npos);
  EXPECT_NE(problem(start + R"(,"ports":[{"chip":0}]})").find("ports[0].number"),
            std::string::npos);
  EXPECT_NE(problem(start + R"(,"warnings":[7]})").find("warnings[0]"), std::string::npos);
  EXPECT_NE(problem(start + R"(,"more":1})").find("more"), std::string::npos);
  EXPECT_NE(problem(R"({"machine":"m","topology":{"chips":[{"index":0}]},"facts":{"a":1}})")
                .find("facts.a"),
            std::string::npos);
  EXPECT_NE(problem(R"({"error":5})").find("error"), std::string::npos);
  EXPECT_NE(problem(std::string(kMaxProbeLineBytes + 1, ' ')).find("MiB"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::codec
