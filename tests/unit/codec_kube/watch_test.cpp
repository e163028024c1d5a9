// Pages and events as API servers write them, and malformed ones.
#include "common/codec/kube/watch.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

std::string pod_text() {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"w-0","namespace":"ns","uid":"u1",
"resourceVersion":"42","deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":30,
"labels":{"app":"x"},"annotations":{"k":"v \u003c 1"},
"managedFields":[{"manager":"m","fieldsV1":{"f:metadata":{}}}]},
"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"2"}}}],
"nodeName":"n1"},"status":{"phase":"Running","podIPs":[{"ip":"10.0.0.1"}]}})";
}

TEST(WatchReader, ReadsAPodEvent) {
  WatchReader<KubePod> reader;
  std::string line = R"({"type":"MODIFIED","object":)" + pod_text() + "}";
  const auto event = reader.read_event(line);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_EQ(event->kind, WatchKind::modified);
  EXPECT_EQ(event->resource_version, "42");
  EXPECT_FALSE(event->initial_end);
  const KubePod& pod = event->object;
  EXPECT_EQ(pod.ns + "/" + pod.name + " " + pod.uid, "ns/w-0 u1");
  EXPECT_EQ(pod.node_name, "n1");
  EXPECT_EQ(pod.phase, "Running");
  EXPECT_EQ(pod.annotations.at("k"), "v < 1");
  EXPECT_EQ(count_resource(pod, "nvidia.com/gpu").value(), 2);
}

TEST(WatchReader, ReadsWhatKubeSchedulerReportsOfAPod) {
  WatchReader<KubePod> reader;
  const auto pod = [&](const std::string& status) {
    std::string line =
        R"({"type":"MODIFIED","object":{"metadata":{"name":"p","resourceVersion":"1"},"status":{)" +
        status + "}}}";
    return reader.read_event(line);
  };
  const std::string scheduled = R"("message":"0/3 nodes","type":"PodScheduled")";
  const auto waits = pod(R"("nominatedNodeName":"n1","conditions":[{"type":"Ready",)"
                         R"("status":"False"},{"status":"False","reason":"Unschedulable",)" +
                         scheduled + "}]");
  ASSERT_TRUE(waits.ok()) << waits.error().text();
  EXPECT_EQ(waits->object.nominated_node, "n1");
  EXPECT_EQ(waits->object.rejection, "Unschedulable: 0/3 nodes");
  EXPECT_EQ(pod(R"("conditions":[{"status":"True",)" + scheduled + "}]")->object.rejection, "");
  EXPECT_EQ(pod(R"("conditions":null,"nominatedNodeName":null)")->object.nominated_node, "");
  EXPECT_FALSE(pod(R"("conditions":{})").ok());
  EXPECT_FALSE(pod(R"("conditions":[{"type":7}])").ok());
  EXPECT_FALSE(pod(R"("nominatedNodeName":7)").ok());
}

TEST(WatchReader, ReadsTheNamesThatDnsHasForAPod) {
  WatchReader<KubePod> reader;
  const auto pod = [&](const std::string& spec) {
    std::string line =
        R"({"type":"ADDED","object":{"metadata":{"name":"p","resourceVersion":"1"},"spec":{)" +
        spec + "}}}";
    return reader.read_event(line);
  };
  const auto named = pod(R"("subdomain":"train","hostname":"w-0")");
  ASSERT_TRUE(named.ok()) << named.error().text();
  EXPECT_EQ(named->object.hostname, "w-0");
  EXPECT_EQ(named->object.subdomain, "train");
  EXPECT_EQ(pod(R"("hostname":null)")->object.hostname, "");
  EXPECT_FALSE(pod(R"("hostname":7)").ok());
  EXPECT_FALSE(pod(R"("subdomain":{})").ok());
}

TEST(WatchReader, ReadsWhetherAPodMayPreempt) {
  WatchReader<KubePod> reader;
  const auto may = [&](const std::string& spec) {
    std::string line =
        R"({"type":"ADDED","object":{"metadata":{"name":"p","resourceVersion":"1"},"spec":{)" +
        spec + "}}}";
    const auto event = reader.read_event(line);
    return event.ok() ? (event->object.may_preempt ? "yes" : "no") : event.error().text();
  };
  EXPECT_EQ(may(R"("preemptionPolicy":"Never")"), "no");
  EXPECT_EQ(may(""), "yes") << "not as the pod before";
  EXPECT_EQ(may(R"("preemptionPolicy":"PreemptLowerPriority")"), "yes");
  EXPECT_EQ(may(R"("preemptionPolicy":null)"), "yes");
  EXPECT_NE(may(R"("preemptionPolicy":7)").find("spec.preemptionPolicy"), std::string::npos);
}

TEST(WatchReader, ReadsSchedulingGates) {
  WatchReader<KubePod> reader;
  const auto read = [&](const std::string& gates) {
    std::string line = R"({"type":"ADDED","object":{"metadata":{"name":"p","resourceVersion":"1"},)"
                       R"("spec":{"schedulingGates":)" +
                       gates + "}}}";
    return reader.read_event(line);
  };
  using Gates = std::vector<std::string>;
  const auto two = read(R"([{"name":"chipweave.dev/gang"},{"x":[1],"name":"b"}])");
  ASSERT_TRUE(two.ok()) << two.error().text();
  EXPECT_EQ(two->object.gates, (Gates{"chipweave.dev/gang", "b"}));
  EXPECT_EQ(read("null")->object.gates, Gates{});
  EXPECT_EQ(read("[]")->object.gates, Gates{});
  EXPECT_EQ(read("[{}]")->object.gates, Gates{""});
  EXPECT_FALSE(read("{}").ok());
  EXPECT_FALSE(read(R"(["a"])").ok());
  const auto number = read(R"([{"name":7}])");
  ASSERT_FALSE(number.ok());
  EXPECT_NE(number.error().text().find("spec.schedulingGates.name"), std::string::npos);
}

TEST(WatchReader, ReadsWhatHangsOnANode) {
  WatchReader<KubeNodeMetadata> reader;
  const std::string node =
      R"({"kind":"Node","metadata":{"name":"n1","uid":"u1","resourceVersion":"42",)"
      R"("labels":{"a":"b"},"annotations":{"c":"{\"d\":1}"}},"spec":{"podCIDR":"10.0.0.0/24"},)"
      R"("status":{"images":[{"names":["x"]}]}})";
  std::string line = R"({"type":"ADDED","object":)" + node + "}";
  const auto event = reader.read_event(line);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_EQ(event->object.name, "n1");
  EXPECT_EQ(event->object.labels, (StringMap{{"a", "b"}}));
  EXPECT_EQ(event->object.annotations, (StringMap{{"c", "{\"d\":1}"}}));
  line = R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"1","labels":{"a":1}}}})";
  EXPECT_FALSE(reader.read_event(line).ok());
}

TEST(WatchReader, ReadsTheFolderOfARankTable) {
  WatchReader<KubeRankTablePod> reader;
  const auto read = [&](const std::string& spec, const std::string& phase) {
    std::string pod = R"({"metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"1",)"
                      R"("labels":{"job-name":"j"},"annotations":{"a":"b"}},"spec":)" +
                      spec + R"(,"status":{"podIP":"10.1.1.1","phase":)" + phase + "}}";
    return reader.read_one(pod);
  };
  const auto pod = read(
      R"({"nodeName":"n1","containers":[{"name":"c"}],"volumes":[{"name":"x","hostPath":{"path":"/x"}},)"
      R"({"hostPath":{"type":"","path":"/a/n.j"},"name":"ranktable"},{"name":"y","emptyDir":{}}]})",
      R"("Running")");
  ASSERT_TRUE(pod.ok()) << pod.error().text();
  EXPECT_EQ(pod->ns + "/" + pod->name + "/" + pod->uid + "/" + pod->node, "n/p/u/n1");
  EXPECT_EQ(pod->labels, (StringMap{{"job-name", "j"}}));
  EXPECT_EQ(pod->annotations, (StringMap{{"a", "b"}}));
  EXPECT_EQ(pod->folder, "/a/n.j");
  EXPECT_FALSE(pod->ended);
  EXPECT_TRUE(read("{}", R"("Failed")")->ended);
  EXPECT_TRUE(read("{}", R"("Succeeded")")->ended);
  for (const char* other :
       {"{}", "null", R"({"volumes":null})", R"({"volumes":[{"name":"ranktable"}]})",
        R"({"volumes":[{"name":"ranktable","configMap":{"name":"m"}}]})",
        R"({"volumes":[{"name":"other","hostPath":{"path":"/a"}}]})"}) {
    const auto without = read(other, "null");
    ASSERT_TRUE(without.ok()) << other;
    EXPECT_EQ(without->folder, std::nullopt) << other;
  }
  for (const char* wrong : {"[]", R"({"volumes":{}})", R"({"volumes":["a"]})",
                            R"({"volumes":[{"name":"ranktable","hostPath":{"path":7}}]})"}) {
    EXPECT_FALSE(read(wrong, "null").ok()) << wrong;
  }
}

TEST(WatchReader, ReadsGangsOfKubernetesItself) {
  WatchReader<KubePod> reader;
  for (const auto& [spec, gang] : std::vector<std::pair<std::string, std::string>>{
           {R"("schedulingGroup":{"podGroupName":"train-0"})", "train-0"},
           {R"("schedulingGroup":null)", ""},
           {R"("schedulingGroup":{})", ""},
           {R"("workloadRef":{"name":"w","podGroup":"g","podGroupReplicaKey":"3"})", "w/g/3"},
           {R"("workloadRef":{"name":"w","podGroup":"g"})", "w/g/"}}) {
    std::string line =
        R"({"type":"ADDED","object":{"metadata":{"name":"p","resourceVersion":"1"},"spec":{)" +
        spec + "}}}";
    const auto event = reader.read_event(line);
    ASSERT_TRUE(event.ok()) << spec << ": " << event.error().text();
    EXPECT_EQ(event->object.gang, gang) << spec;
  }
  std::string bad = R"({"type":"ADDED","object":{"spec":{"schedulingGroup":{"podGroupName":7}}}})";
  EXPECT_NE(reader.read_event(bad).error().text().find("spec.schedulingGroup.podGroupName"),
            std::string::npos);
}

TEST(WatchReader, ReadsBookmarksAndErrors) {
  WatchReader<KubeNode> reader;
  std::string line = R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":
{"resourceVersion":"77","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},
"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}}}}})";
  auto event = reader.read_event(line);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_EQ(event->kind, WatchKind::bookmark);
  EXPECT_EQ(event->resource_version, "77");
  EXPECT_TRUE(event->initial_end);
  line = R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":
"Failure","message":"too old resource version: 1",
  "reason" : "Expired", "code" : 410
}
})";
  event = reader.read_event(line);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_EQ(event->kind, WatchKind::error);
  EXPECT_EQ(event->status.code, 410);
  EXPECT_EQ(event->status.reason, "Expired");
}

TEST(WatchReader, ReadsWhatANodeHasForPods) {
  WatchReader<KubeNode> reader;
  std::string body = R"({"metadata":{"resourceVersion":"9"},"items":[
{"metadata":{"name":"n1","resourceVersion":"3"},"status":{"capacity":{"cpu":"96","memory":"1Ti"},
"addresses":[{"type":"Hostname","address":"n1"},{"address":"10.0.0.1","type":"InternalIP"},
{"type":"InternalIP","address":"fd00::1"},{"type":"ExternalIP","address":"1.2.3.4"}],
"allocatable":{"cpu":"95500m","memory":"1000Gi","pods":"110","nvidia.com/gpu":"8"}}},
{"metadata":{"name":"n2","resourceVersion":"4"},"status":{"addresses":null,"allocatable":{"cpu":8}}},
{"metadata":{"name":"n3","resourceVersion":"5"},"status":null}]})";
  const auto page = reader.read_page(body);
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->objects[0].cpu, "95500m");
  EXPECT_EQ(page->objects[0].memory, "1000Gi");
  EXPECT_EQ(page->objects[0].address, "10.0.0.1");
  EXPECT_EQ(page->objects[1].address, "");
  EXPECT_EQ(page->objects[1].cpu, "8");
  EXPECT_EQ(page->objects[1].memory, "");
  EXPECT_EQ(page->objects[2].cpu, "");
  body = R"({"metadata":{"resourceVersion":"9"},"items":[{"status":{"allocatable":{"cpu":[]}}}]})";
  EXPECT_NE(reader.read_page(body).error().text().find("status.allocatable"), std::string::npos);
  body = R"({"metadata":{"resourceVersion":"9"},"items":[{"status":{"addresses":["10.0.0.1"]}}]})";
  EXPECT_FALSE(reader.read_page(body).ok());
}

TEST(WatchReader, ReadsPages) {
  WatchReader<KubeNode> reader;
  std::string body = R"({"kind":"NodeList","metadata":{"resourceVersion":"9","continue":"abc",
"remainingItemCount":7},"items":[{"metadata":{"name":"n1","uid":"a","resourceVersion":"3"}},
{"metadata":{"name":"n2","uid":"b","resourceVersion":"4"},"status":{"images":[]}}]})";
  const auto page = reader.read_page(body);
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->resource_version, "9");
  EXPECT_EQ(page->next, "abc");
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[1].name, "n2");
  body = R"({"metadata":{"resourceVersion":"9"},"items":null})";  // Go's form of an empty list
  EXPECT_TRUE(reader.read_page(body)->objects.empty());
}

TEST(WatchReader, RefusesWhatIsNeitherPageNorEvent) {
  WatchReader<KubePod> reader;
  for (const char* text :
       {"", "null", "[]", "{}", R"({"items":[]})", R"({"metadata":{},"items":[]})",
        R"({"metadata":{"resourceVersion":"1"},"items":[null]})",
        R"({"metadata":{"resourceVersion":"1"},"items":{}})",
        R"({"metadata":{"resourceVersion":1},"items":[]})",
        R"({"metadata":{"resourceVersion":"1"},"items":[]} x)"}) {
    std::string body = text;
    EXPECT_FALSE(reader.read_page(body).ok()) << text;
  }
  for (const char* text :
       {"", "{}", R"({"type":"ADDED"})", R"({"object":{}})", R"({"type":"ADDED","object":[]})",
        R"({"type":"ADDED","object":{"metadata":{"name":"x"}}})", R"({"type":5,"object":{}})",
        R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1","annotations":7}}})",
        R"({"type":"ERROR","object":{"code":99999}})",
        R"({"type":"ADDED","object":{"metadata":)"}) {
    std::string line = text;
    EXPECT_FALSE(reader.read_event(line).ok()) << text;
  }
  std::string deep =
      R"({"type":"ADDED","object":{"x":)" + std::string(500, '[') + std::string(500, ']') + "}}";
  EXPECT_FALSE(reader.read_event(deep).ok());
}

TEST(Status, OfAnObjectAndOfPlainText) {
  std::string body = R"({"kind":"Status","status":"Failure","message":"pods \"x\" not found",)"
                     R"("reason":"NotFound","details":{"name":"x"},"code":404})";
  const KubeStatus status = read_status(body);
  EXPECT_EQ(status.code, 404);
  EXPECT_EQ(status.reason, "NotFound");
  EXPECT_EQ(status.message, "pods \"x\" not found");
  std::string quoting = R"({"message":"Post \"https://u:p@h/callers/s/x\": EOF","code":500})";
  EXPECT_EQ(read_status(quoting).message, R"(Post "https://***@h/callers/***/x": EOF)");
  std::string cut = std::string(150, '.') + "https://user:" + std::string(100, 's') + "@h";
  EXPECT_EQ(read_status(cut).message, std::string(150, '.') + "https://***@h");
  std::string text = "Too many requests, please try again later.\n";
  EXPECT_EQ(read_status(text).code, 0);
  EXPECT_EQ(read_status(text).message, text);
}

TEST(LineSplitter, CutsAnywhere) {
  const std::string text = "one\n\r\n\ntwo\r\nthree\nrest";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineSplitter lines(100);
    std::vector<std::string> got;
    for (const std::string& part : {text.substr(0, cut), text.substr(cut)}) {
      ASSERT_TRUE(lines.feed(part));
      while (const std::string* line = lines.next()) got.push_back(*line);
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "two", "three"})) << cut;
  }
}

TEST(LineSplitter, ALineMayNotGrowWithoutEnd) {
  LineSplitter lines(10);
  EXPECT_TRUE(lines.feed("123456789"));
  EXPECT_EQ(lines.next(), nullptr);
  EXPECT_TRUE(lines.feed("0"));
  EXPECT_EQ(lines.next(), nullptr);
  EXPECT_FALSE(lines.feed("1"));
}

}  // namespace
}  // namespace chipweave::codec
