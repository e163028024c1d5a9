#include "cli/render_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::cli {
namespace {

domain::NetworkTable table() {
  domain::NetworkTable out;
  out.levels = {"block", "ex.com/rack"};
  out.accelerator_levels = {"pod"};
  out.nodes = {{"n1", {"b1", "r1"}, {"l1", "l2"}, {"p1"}},
               {"n2", {"b1", "r1"}, {"l1"}, {"p1"}},
               {"n3", {"b1", ""}, {}, {}},
               {"n4", {"b2", "r1"}, {}, {"p2"}},
               {"n5", {"", "r1"}, {}, {}}};
  return out;
}

TEST(RenderNetwork, DomainsAreWholePathsAndUnknownOnesOutside) {
  EXPECT_EQ(render_network(summarize(table()), "csv"),
            "5 nodes, read as csv\n\n"
            "LEVEL        DOMAINS  SMALLEST  MEDIAN  LARGEST  OUTSIDE\n"
            "block              2         1       1        3        1\n"
            "ex.com/rack        2         1       1        2        2\n"
            "\n"
            "ACCELERATOR LEVEL  DOMAINS  SMALLEST  MEDIAN  LARGEST  OUTSIDE\n"
            "pod                      2         1       1        2        2\n"
            "\nrails: up to 2, known of 2 nodes\n");
}

TEST(RenderNetwork, JsonSaysTheSame) {
  domain::NetworkTable one = table();
  one.levels = {"block"};
  for (domain::NetworkNode& node : one.nodes) node.path.resize(1);
  one.accelerator_levels.clear();
  EXPECT_EQ(network_summary_json(summarize(one), "csv", {"w"}),
            R"({"format":"csv","nodes":5,"levels":[{"name":"block","domains":2,"smallest":1,)"
            R"("median":1,"largest":3,"outside":1}],"accelerator_levels":[],)"
            R"("rails":{"nodes":2,"most":2},"warnings":["w"]})"
            "\n");
}

TEST(RenderNetwork, NodesAreRowsAndWhatIsUnknownADash) {
  EXPECT_EQ(render_network_nodes(table()),
            "NODE  block  rack  pod\n"
            "n1    b1     r1    p1\n"
            "n2    b1     r1    p1\n"
            "n3    b1     -     -\n"
            "n4    b2     r1    p2\n"
            "n5    -      r1    -\n");
}

TEST(RenderNetwork, EmptyTableSaysThatThereAreNoLevels) {
  EXPECT_EQ(render_network(summarize({}), "csv"),
            "0 nodes, read as csv\n\nno levels of the network between nodes\n");
}

}  // namespace
}  // namespace chipweave::cli
