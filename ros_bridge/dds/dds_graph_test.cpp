// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/dds_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ros_bridge/dds/test_graph.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

const TopicSpec kText{"/text", "std_msgs/msg/String", Qos::publish()};
const std::string kEcho = PITWALL_DDS_ECHO;

std::string text(const std::string& data) { return ros_messages::write(ros_messages::String{data}); }

TEST_CASE("a message comes on the caller's thread, with its times and its writer") {
  const DdsSettings settings = loopback();
  const auto a = make_graph("/a", settings);
  const auto b = make_graph("/b", settings);
  const auto id = advertise(*a, kText);
  std::vector<Arrival> arrivals;
  std::thread::id thread;
  REQUIRE(b->subscribe(kText, [&](std::string_view cdr, const Arrival& arrival) {
             CHECK(cdr == text("hello"));
             arrivals.push_back(arrival);
             thread = std::this_thread::get_id();
           }).ok());
  REQUIRE(wait_for(*a, [&] { return a->readers_of(id) == 1; }));
  const Time before = b->now();
  CHECK(a->publish(id, text("hello")));
  REQUIRE(wait_for(*b, [&] { return !arrivals.empty(); }));
  CHECK(thread == std::this_thread::get_id());
  CHECK(arrivals[0].received >= before);
  CHECK(arrivals[0].received <= b->now());
  CHECK(std::abs((arrivals[0].sent - before).seconds()) < 1.0);
  for (const Endpoint& each : b->endpoints()) {
    CHECK(each.ours == !each.writes);
    if (each.writes) CHECK(each.gid == arrivals[0].writer);
  }
}

TEST_CASE("messages of several topics are handed out in the order in which they came") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/a", settings);
  std::vector<std::string> got;
  std::vector<Graph::PublisherId> ids;
  for (const char* name : {"/t0", "/t1", "/t2"}) {
    collect(*graph, {name, kText.type, Qos::subscribe()}, got);
    ids.push_back(advertise(*graph, {name, kText.type, Qos::publish()}));
  }
  std::vector<std::string> sent;
  for (int i = 0; i < 12; ++i) {
    sent.push_back(text(std::to_string(i)));
    REQUIRE(graph->publish(ids[static_cast<std::size_t>(i * 7 % 3)], sent.back()));
  }
  REQUIRE(wait_for(*graph, [&] { return got.size() == sent.size(); }));
  CHECK(got == sent);
}

TEST_CASE("a message keeps its writer when that has left before it is handed out") {
  const DdsSettings settings = loopback();
  const auto reader = make_graph("/reader", settings);
  std::vector<Gid> writers;
  REQUIRE(reader->subscribe(kText, [&](std::string_view, const Arrival& arrival) { writers.push_back(arrival.writer); }).ok());
  auto writer = make_graph("/writer", settings);
  const auto id = advertise(*writer, kText);
  Gid gid{};
  for (const Endpoint& each : writer->endpoints()) gid = each.writes ? each.gid : gid;
  REQUIRE(writer->readers_of(id) == 1);
  CHECK(writer->publish(id, text("last words")));
  SUBCASE("and its leaving was seen") {
    CHECK(endpoints_of(*reader, "/reader") == 1);
    writer.reset();
    CHECK(reader->endpoints().size() == 1);
  }
  SUBCASE("or neither its coming nor its leaving was") { writer.reset(); }
  REQUIRE(wait_for(*reader, [&] { return !writers.empty(); }));
  CHECK(writers == std::vector<Gid>{gid});
}

TEST_CASE("wait ends when its time is over, and when the graph changes") {
  const DdsSettings settings = loopback();
  const auto a = make_graph("/a", settings);
  wait_during(*a, 50);
  const Time until = a->now() + from_milliseconds(20);
  a->wait(until);
  CHECK(a->now() >= until);
  a->wait(a->now() - from_milliseconds(20));
  const auto b = make_graph("/b", settings);
  const Time long_after = a->now() + from_milliseconds(10'000);
  a->wait(long_after);
  CHECK(a->now() < long_after);
  CHECK(std::abs(a->now().seconds() -
                 static_cast<double>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1)) * 1e-3) < 1.0);
}

TEST_CASE("every type and every length goes to another process and back unchanged but for the padding of its last word") {
  const DdsSettings settings = loopback();
  std::vector<std::pair<std::string, std::string>> messages;  // type, bytes
  ros_messages::for_each_known_type([&](const auto& message) { messages.emplace_back(message.kType, ros_messages::write(message)); });
  for (std::size_t size = 4; size < 24; ++size)
    messages.emplace_back("their_msgs/msg/Thing", std::string("\0\1\0\0", 4) + std::string(size - 4, '\x5a'));
  messages.emplace_back("their_msgs/msg/BigEndian", std::string("\0\0\0\0\x12\x34", 6));
  messages.emplace_back("their_msgs/msg/Map", std::string("\0\1\0\0", 4) + std::string(3'000'001, '\x33'));
  std::string command = kEcho + " /ns/echo 0";
  for (std::size_t i = 0; i < messages.size(); ++i) command += " /t" + std::to_string(i) + " " + messages[i].first + " reliable";

  const auto graph = make_graph("/test", settings);
  const OtherProcess echo(command, settings);
  std::vector<Graph::PublisherId> ids;
  std::vector<std::vector<std::string>> got(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ids.push_back(advertise(*graph, {"/t" + std::to_string(i), messages[i].first, Qos::publish()}));
    collect(*graph, {"/t" + std::to_string(i) + "/back", messages[i].first, Qos::publish()}, got[i]);
  }
  REQUIRE(wait_for(*graph, [&] { return endpoints_of(*graph, "/ns/echo") == 2 * messages.size(); }));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CAPTURE(messages[i].first);
    REQUIRE(publish_until(*graph, ids[i], messages[i].second, [&] { return !got[i].empty(); }));
    const std::string& sent = messages[i].second;
    CHECK(got[i][0].substr(0, sent.size()) == sent);
    // Of what goes in one packet the last word is filled; fragments say their whole length.
    const std::string padding = got[i][0].substr(sent.size());
    CHECK(padding == std::string(padding.size(), '\0'));
    CHECK(padding.size() < 4);
  }
  CHECK(graph->refused() == 0);
}

TEST_CASE("readers and writers meet exactly where what is offered covers what is asked for") {
  const DdsSettings settings = loopback();
  const std::vector<std::pair<std::string, Qos>> kinds = {
      {"sensor", Qos::sensor_data()}, {"reliable", Qos::publish()}, {"latched", Qos::latched()}};
  const auto graph = make_graph("/test", settings);
  struct Pair {
    std::string topic;
    Graph::PublisherId id;
    bool expected;
  };
  std::vector<Pair> pairs;
  std::string command = kEcho + " /echo 0";
  for (const auto& [writer_name, writer] : kinds) {
    for (const auto& [reader_name, reader] : kinds) {
      const std::string topic = "/" + writer_name + "_" + reader_name;
      pairs.push_back({topic, advertise(*graph, {topic, kText.type, writer}), matches(writer, reader)});
      command += " " + topic + " " + kText.type + " " + reader_name;
    }
  }
  const OtherProcess echo(command, settings);
  REQUIRE(wait_for(*graph, [&] { return endpoints_of(*graph, "/echo") == 2 * pairs.size(); }));
  for (const Pair& each : pairs) {
    if (each.expected) CHECK_MESSAGE(wait_for(*graph, [&] { return graph->readers_of(each.id) == 1; }), each.topic);
  }
  wait_during(*graph, 200);
  for (const Pair& each : pairs) CHECK_MESSAGE(graph->readers_of(each.id) == (each.expected ? 1 : 0), each.topic);
  // What the profiles are for: a publisher of ours reaches every reader that is not latched, a subscriber of ours every writer.
  CHECK(matches(Qos::publish(), Qos::sensor_data()));
  CHECK(matches(Qos::sensor_data(), Qos::subscribe()));
  CHECK(matches(Qos::latched(), Qos::subscribe()));
  CHECK_FALSE(matches(Qos::sensor_data(), Qos::publish()));
  CHECK_FALSE(matches(Qos::publish(), Qos::latched()));
}

TEST_CASE("who comes late gets the last messages of a latched topic, as many as it is deep, and of others none") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/test", settings);
  const auto latched = advertise(*graph, {"/map", kText.type, Qos::latched(2)});
  const auto fleeting = advertise(*graph, {"/scan", kText.type, Qos::publish()});
  for (const char* data : {"1", "2", "3"}) {
    CHECK(graph->publish(latched, text(data)));
    CHECK(graph->publish(fleeting, text(data)));
  }
  const OtherProcess echo(kEcho + " /echo 0 /map " + kText.type + " latched /scan " + kText.type + " reliable", settings);
  REQUIRE(wait_for(*graph, [&] { return endpoints_of(*graph, "/echo") == 4 && graph->readers_of(fleeting) == 1; }));
  // Its answers are latched, too, and were given before this subscriber is there.
  wait_during(*graph, 300);
  std::vector<std::string> maps, scans;
  collect(*graph, {"/map/back", kText.type, Qos::latched(0)}, maps);
  collect(*graph, {"/scan/back", kText.type, Qos::publish()}, scans);
  REQUIRE(wait_for(*graph, [&] { return maps.size() == 2; }));
  CHECK(maps == std::vector<std::string>{text("2") + std::string(2, '\0'), text("3") + std::string(2, '\0')});
  CHECK(scans.empty());
}

TEST_CASE("twelve processes and more find each other over loopback") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/test", settings);
  const auto id = advertise(*graph, kText);
  std::set<Gid> answered;
  REQUIRE(graph
              ->subscribe({"/text/back", kText.type, Qos::publish()},
                          [&](std::string_view, const Arrival& each) { answered.insert(each.writer); })
              .ok());
  std::vector<OtherProcess> others;
  constexpr std::size_t kProcesses = 14;
  for (std::size_t i = 0; i < kProcesses; ++i)
    others.emplace_back(kEcho + " /echo_" + std::to_string(i) + " 0 /text " + kText.type + " reliable", settings);
  REQUIRE(wait_for(*graph, [&] { return graph->readers_of(id) == kProcesses; }));
  std::set<std::string> nodes;
  REQUIRE(wait_for(*graph, [&] {
    for (const Endpoint& each : graph->endpoints()) nodes.insert(each.node);
    nodes.erase("");
    return nodes.size() == kProcesses + 1;
  }));
  CHECK(publish_until(*graph, id, text("all"), [&] { return answered.size() == kProcesses; }));
}

TEST_CASE(
    "a reliable reader that hangs does not hold up who keeps the last, others for their limit at most, and gets the rest when it goes on") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/test", settings);
  const auto keeps_last = advertise(*graph, {"/drive", kText.type, Qos::publish()});
  const auto keeps_all = advertise(*graph, {"/text", kText.type, {.reliable = true, .transient_local = false, .depth = 0}});
  const OtherProcess echo(kEcho + " /echo 0 /text " + kText.type + " reliable /drive " + kText.type + " reliable", settings);
  std::vector<std::string> got;
  collect(*graph, {"/text/back", kText.type, Qos::publish()}, got);
  REQUIRE(publish_until(*graph, keeps_all, text("?"), [&] { return !got.empty() && graph->readers_of(keeps_last) == 1; }));
  echo.signal(SIGSTOP);
  const std::string big = text(std::string(100'000, 'x'));
  for (int i = 0; i < 100; ++i) CHECK(graph->publish(keeps_last, big));
  std::ptrdiff_t taken = 0;
  while (taken < 100 && graph->publish(keeps_all, big)) ++taken;
  CHECK(taken < 100);
  echo.signal(SIGCONT);
  CHECK(wait_for(*graph, [&] { return std::count(got.begin(), got.end(), big) == taken; }));
}

TEST_CASE("one process more than indices is refused with what to do about it") {
  DdsSettings settings = loopback();
  settings.cyclone_uri +=
      ",<CycloneDDS><Domain><Discovery><MaxAutoParticipantIndex>1</MaxAutoParticipantIndex></Discovery></Domain></CycloneDDS>";
  const auto first = make_graph("/test", settings);
  OtherProcess second(kEcho + " /echo 0 2>/dev/null", settings);
  CHECK(second.end() != 0);  // 2, but for what asan says of the memory that Cyclone DDS leaves behind when it cannot start
}

TEST_CASE("settings that Cyclone DDS does not take are refused in its words, and the next try is free of them") {
  DdsSettings settings = loopback();
  const std::string good = settings.cyclone_uri;
  settings.cyclone_uri = "<CycloneDDS><Domaine/></CycloneDDS>";
  const auto graph = DdsGraph::make({"/test", settings});
  REQUIRE_FALSE(graph.ok());
  for (const char* part : {"CYCLONEDDS_URI='<CycloneDDS><Domaine/></CycloneDDS>'", "Domaine: unknown element"}) {
    CHECK_MESSAGE(graph.error().message.find(part) != std::string::npos, graph.error().message);
  }
  settings.cyclone_uri = good;
  CHECK(DdsGraph::make({"/test", settings}).ok());
  CHECK_FALSE(DdsGraph::make({"test", settings}).ok());
}

TEST_CASE("with discovery off other processes are not met") {
  DdsSettings settings = loopback();
  const OtherProcess echo(kEcho + " /echo 0 /text " + kText.type + " reliable", settings);
  settings.range = DiscoveryRange::kOff;
  const auto graph = make_graph("/test", settings);
  advertise(*graph, kText);
  wait_during(*graph, 500);
  CHECK(graph->endpoints().size() == 1);
}

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

TEST_CASE("a hundred restarts leave neither files nor threads, nor anything for others to see") {
  const DdsSettings settings = loopback();
  const auto once = [&settings] {
    const auto graph = make_graph("/again", settings);
    const auto id = advertise(*graph, kText);
    std::vector<std::string> got;
    collect(*graph, kText, got);
    CHECK(graph->publish(id, text("x")));
    CHECK(wait_for(*graph, [&] { return got.size() == 1; }));
  };
  once();
  const std::size_t files = entries_of("/proc/self/fd");
  const std::size_t threads = entries_of("/proc/self/task");
  for (int i = 0; i < 100; ++i) once();
  CHECK(entries_of("/proc/self/fd") == files);
  CHECK(entries_of("/proc/self/task") == threads);

  // And what another process that is met and leaves a hundred times leaves behind.
  const auto graph = make_graph("/test", settings);
  std::vector<std::string> none;
  collect(*graph, {"/text/back", kText.type, Qos::publish()}, none);
  OtherProcess again(kEcho + " /again 100 /text " + kText.type + " reliable", settings);
  std::set<Gid> seen;
  REQUIRE(wait_for(*graph, [&] {
    for (const Endpoint& each : graph->endpoints()) seen.insert(each.gid);
    return endpoints_of(*graph, "/again") == 2;
  }));
  CHECK(seen.size() > 20);
  CHECK(wait_for(*graph, [&] { return graph->endpoints().size() == 3; }));
  CHECK(again.end() == 0);
  CHECK(wait_for(*graph, [&] { return graph->endpoints().size() == 1; }));
}

}  // namespace
}  // namespace pitwall::ros_bridge
