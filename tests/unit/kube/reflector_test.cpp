// A reflector with a scripted API server: cut anywhere, slow, refusing, delivering events twice.
#include "common/kube/reflector.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/unit/kube/scripted_transport.hpp"

namespace chipweave::kube {
namespace {

using codec::KubePod;

bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}
std::string object(const std::string& name, int version, const std::string& node = "") {
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":"u-)" + name +
         R"(","resourceVersion":")" + std::to_string(version) + R"("},"spec":{"nodeName":")" +
         node + R"("}})";
}
std::string event(const char* type, const std::string& object) {
  return std::string(R"({"type":")") + type + R"(","object":)" + object + "}\n";
}
std::string bookmark(int version, bool end) {
  return R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":")" +
         std::to_string(version) + R"(")" +
         (end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") +
         R"(},"spec":{},"status":{}}})" + "\n";
}

class Reflects : public testing::Test {
 protected:
  Reflector<KubePod>::Events events() {
    return {{[this](KubePod&& p) {
               seen_[p.name] = p.node_name;
               ++changes_;
             },
             [this](const std::string& key) {
               seen_.erase(key.substr(key.find('/') + 1));
               ++changes_;
             }},
            [this] { ++syncs_; },
            [this](const WatchFailure& failure) { problems_.push_back(failure.what); }};
  }
  static Reflector<KubePod>::Options options() {
    Reflector<KubePod>::Options o;
    o.path = "/api/v1/pods";
    return o;
  }
  // All events of a healthy stream.
  static std::string story() {
    return event("ADDED", object("a", 1)) + event("ADDED", object("b", 2, "n1")) +
           bookmark(3, true) + event("MODIFIED", object("a", 4, "n2")) + bookmark(5, false) +
           event("DELETED", object("b", 6, "n1")) + event("ADDED", object("c", 7));
  }
  using Seen = std::map<std::string, std::string>;
  static Seen at_the_end() { return {{"a", "n2"}, {"c", ""}}; }

  ScriptedTransport server_;
  Seen seen_;
  int changes_ = 0;
  int syncs_ = 0;
  std::vector<std::string> problems_;
  Reflector<KubePod> reflector_{server_, options(), events(), [] { return 1.0; }};
};

TEST_F(Reflects, AStreamingListAndWhatFollows) {
  reflector_.start();
  EXPECT_EQ(server_.target,
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=420"
            "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  EXPECT_TRUE(server_.bytes(story()));
  EXPECT_EQ(seen_, at_the_end());
  EXPECT_EQ(syncs_, 1);
  EXPECT_EQ(changes_, 5);
  server_.time += std::chrono::seconds(400);
  server_.end({});
  EXPECT_EQ(server_.target,
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=420&resourceVersion=7");
  EXPECT_EQ(problems_, std::vector<std::string>{});
}

// After a cut at any point, the reflector misses nothing and delivers nothing twice.
TEST_F(Reflects, CutAtEveryByteItComesToTheSameEnd) {
  const std::string text = story();
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    SCOPED_TRACE("cut after " + std::to_string(cut));
    ScriptedTransport server;
    seen_.clear();
    Reflector<KubePod> reflector(server, options(), events(), [] { return 1.0; });
    reflector.start();
    server.bytes(std::string_view(text).substr(0, cut));
    server.end(make_error(Errc::unavailable, "reset by peer"));
    ASSERT_TRUE(server.target.starts_with("wait "));
    server.pass_time();
    // The API server answers from the requested version.
    std::string rest = text;
    if (const auto at = server.target.find("resourceVersion=");
        at != std::string::npos && !holds(server.target, "initial")) {
      const std::string version = server.target.substr(at + 16);
      const auto seen = text.find("\"resourceVersion\":\"" + version + "\"");
      ASSERT_NE(seen, std::string::npos) << version;
      rest = text.substr(text.find('\n', seen) + 1);
    }
    for (const char byte : rest) ASSERT_TRUE(server.bytes({&byte, 1}));
    EXPECT_EQ(seen_, at_the_end());
    EXPECT_TRUE(reflector.synced());
  }
}

TEST_F(Reflects, ListsInPagesWhereStreamsAreRefused) {
  reflector_.start();
  server_.refuse(400, R"({"kind":"Status","code":400,"message":"sendInitialEvents is forbidden"})");
  EXPECT_EQ(server_.target, "/api/v1/pods?limit=500");
  server_.reply(200, R"({"metadata":{"resourceVersion":"9","continue":"next"},"items":[)" +
                         object("a", 1) + "]}");
  EXPECT_EQ(server_.target, "/api/v1/pods?limit=500&continue=next");
  EXPECT_EQ(syncs_, 0);
  server_.reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + object("b", 2) + "]}");
  EXPECT_EQ(syncs_, 1);
  EXPECT_EQ(seen_, (Seen{{"a", ""}, {"b", ""}}));
  EXPECT_TRUE(server_.target.ends_with("&resourceVersion=9"));
}

TEST_F(Reflects, WhatVanishedWhileTheVersionExpiredIsGone) {
  reflector_.start();
  server_.bytes(story());
  server_.bytes(event("ERROR", R"({"kind":"Status","status":"Failure","code":410,)"
                               R"("reason":"Expired","message":"too old resource version"})"));
  EXPECT_TRUE(holds(server_.target, "sendInitialEvents")) << server_.target;
  server_.bytes(event("ADDED", object("c", 7)));
  EXPECT_EQ(seen_, at_the_end()) << "nothing is removed before the list is complete";
  server_.bytes(bookmark(20, true));
  EXPECT_EQ(seen_, (Seen{{"c", ""}}));
  EXPECT_EQ(syncs_, 2);
}

TEST_F(Reflects, BrokenEventsAreAFailureNotACrash) {
  for (const std::string& line :
       {std::string("{\n"), std::string("[]\n"), std::string("{\"type\":\"ADDED\"}\n"),
        std::string("{\"type\":\"NEW\",\"object\":{}}\n"), event("ADDED", "{}"),
        event("ADDED", "null"), event("ADDED", "7"), event("BOOKMARK", "{}"),
        std::string("{\"object\":{},\"type\":\"ADDED\"}\n"), event("ERROR", "{\"code\":\"x\"}"),
        std::string(9U << 20U, 'x')}) {
    ScriptedTransport server;
    problems_.clear();
    Reflector<KubePod> reflector(server, options(), events(), [] { return 1.0; });
    reflector.start();
    server.bytes(line);
    EXPECT_EQ(server.target, "wait 800") << line.substr(0, 60);
    EXPECT_EQ(problems_.size(), 1U) << line.substr(0, 60);
    server.pass_time();
    server.bytes(story());
    EXPECT_EQ(seen_, at_the_end());
  }
}

TEST_F(Reflects, AStormOfRefusalsIsWaitedOut) {
  reflector_.start();
  server_.bytes(story());
  server_.time += std::chrono::seconds(3);
  server_.end(make_error(Errc::unavailable, "reset"));
  std::vector<std::string> waits;
  for (int k = 0; k < 7; ++k) {
    waits.push_back(server_.target);
    server_.pass_time();
    server_.refuse(503, "upstream is away");
  }
  EXPECT_EQ(waits, (std::vector<std::string>{"wait 800", "wait 1600", "wait 3200", "wait 6400",
                                             "wait 12800", "wait 25600", "wait 30000"}));
  EXPECT_EQ(problems_.back(), "/api/v1/pods: HTTP 503 upstream is away");
  server_.pass_time();
  server_.bytes(event("DELETED", object("c", 8)));
  EXPECT_EQ(seen_, (Seen{{"a", "n2"}}));
}

class ReflectsMetadata : public testing::Test {
 protected:
  using Node = codec::KubeNode;
  static constexpr const char* kOfEach =
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  static constexpr const char* kOfList =
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  static Reflector<Node>::Options options() {
    Reflector<Node>::Options o;
    o.path = "/api/v1/nodes";
    o.metadata_only = true;
    return o;
  }
  Reflector<Node>::Events events() {
    return {{[this](Node&& node) { seen_[node.name] = node.uid; },
             [this](const std::string& name) { seen_.erase(name); }},
            [] {},
            [this](const WatchFailure& failure) { problems_.push_back(failure.what); }};
  }
  // As kube-apiserver 1.36 writes it.
  static std::string metadata(const std::string& more) {
    return R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{)" + more +
           "}}";
  }
  static std::string node(const std::string& name, int version) {
    return metadata(R"("name":")" + name + R"(","uid":"u-)" + name + R"(","resourceVersion":")" +
                    std::to_string(version) +
                    R"(","creationTimestamp":"2026-01-02T03:04:05Z","labels":{"a":"b"},)"
                    R"("annotations":{"c":"d"},"managedFields":[{"manager":"kubelet",)"
                    R"("operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",)"
                    R"("fieldsV1":{"f:status":{"f:images":{}}},"subresource":"status"}])");
  }
  static std::string whole_node(const std::string& name, int version) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"u-)" +
           name + R"(","resourceVersion":")" + std::to_string(version) +
           R"("},"spec":{"unschedulable":true},"status":{"images":[{"names":["x"]}]}})";
  }
  static std::string end_of_list(int version) {
    return event("BOOKMARK", metadata(R"("resourceVersion":")" + std::to_string(version) +
                                      R"(","creationTimestamp":null,"annotations":)"
                                      R"({"k8s.io/initial-events-end":"true"})"));
  }
  using Seen = std::map<std::string, std::string>;

  ScriptedTransport server_;
  Seen seen_;
  std::vector<std::string> problems_;
  Reflector<Node> reflector_{server_, options(), events(), [] { return 1.0; }};
};

TEST_F(ReflectsMetadata, OfAStreamingListAndWhatFollows) {
  reflector_.start();
  EXPECT_TRUE(holds(server_.target, "sendInitialEvents"));
  EXPECT_EQ(server_.accept, kOfEach);
  server_.bytes(event("ADDED", node("a", 1)) + event("ADDED", node("b", 2)) + end_of_list(3));
  EXPECT_TRUE(reflector_.synced());
  EXPECT_EQ(seen_, (Seen{{"a", "u-a"}, {"b", "u-b"}}));
  server_.bytes(event("MODIFIED", node("a", 4)) + event("DELETED", node("b", 5)));
  EXPECT_EQ(seen_, (Seen{{"a", "u-a"}}));
  server_.end({});
  EXPECT_TRUE(holds(server_.target, "resourceVersion=5"));
  EXPECT_EQ(server_.accept, kOfEach);
  EXPECT_EQ(problems_, std::vector<std::string>{});
}

TEST_F(ReflectsMetadata, OfPages) {
  reflector_.start();
  server_.refuse(400, R"({"kind":"Status","code":400})");
  for (const char* next : {"more", ""}) {
    EXPECT_TRUE(holds(server_.target, "limit=500")) << server_.target;
    EXPECT_EQ(server_.accept, kOfList);
    server_.reply(200, R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",)"
                       R"("metadata":{"resourceVersion":"9","continue":")" +
                           std::string(next) + R"("},"items":[)" +
                           node(next + std::string("n"), 1) + "]}");
  }
  EXPECT_TRUE(reflector_.synced());
  EXPECT_EQ(seen_, (Seen{{"n", "u-n"}, {"moren", "u-moren"}}));
  EXPECT_TRUE(holds(server_.target, "resourceVersion=9"));
  EXPECT_EQ(server_.accept, kOfEach);
}

TEST_F(ReflectsMetadata, AServerThatSendsWholeObjects) {
  reflector_.start();
  server_.bytes(event("ADDED", whole_node("a", 1)) + end_of_list(3) +
                event("ADDED", whole_node("b", 4)) + event("DELETED", whole_node("a", 5)));
  EXPECT_EQ(seen_, (Seen{{"b", "u-b"}}));
  EXPECT_EQ(problems_, std::vector<std::string>{});
}

TEST_F(ReflectsMetadata, WholeObjectsAreRequestedAfterARefusal) {
  reflector_.start();
  server_.refuse(406, R"({"kind":"Status","code":406,"message":"only application/json"})");
  EXPECT_EQ(problems_, (std::vector<std::string>{"/api/v1/nodes: HTTP 406 only application/json"}));
  server_.pass_time();
  EXPECT_TRUE(holds(server_.target, "sendInitialEvents"));
  EXPECT_EQ(server_.accept, "application/json");
  server_.refuse(400, R"({"kind":"Status","code":400})");
  EXPECT_TRUE(holds(server_.target, "limit=500"));
  EXPECT_EQ(server_.accept, "application/json");
  server_.reply(200, R"({"kind":"NodeList","metadata":{"resourceVersion":"9"},"items":[)" +
                         whole_node("a", 1) + "]}");
  EXPECT_EQ(seen_, (Seen{{"a", "u-a"}}));
}

TEST_F(Reflects, WholeObjectsUnlessToldOtherwise) {
  reflector_.start();
  EXPECT_EQ(server_.accept, "application/json");
  server_.refuse(400, R"({"kind":"Status","code":400})");
  EXPECT_EQ(server_.accept, "application/json");
}

TEST_F(Reflects, OnlyOneRequestIsEverUnderWay) {
  reflector_.start();
  server_.bytes(story());
  server_.end(make_error(Errc::unavailable, "reset"));
  server_.pass_time();
  server_.refuse(410, R"({"code":410})");
  EXPECT_EQ(server_.in_flight(), 1);
}

}  // namespace
}  // namespace chipweave::kube
