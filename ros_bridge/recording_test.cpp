// SPDX-License-Identifier: Apache-2.0
// A graph into a bag, and a bag into a graph.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_reader.hpp"
#include "recording/recorder.hpp"
#include "ros_bridge/bag_recorder.hpp"
#include "ros_bridge/graph_player.hpp"
#include "ros_bridge/memory_graph.hpp"
#include "ros_bridge/qos_text.hpp"
#include "ros_bridge/slam_feed.hpp"
#include "ros_messages/convert.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::ros_bridge {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Works for a while on each scan: busy for so many looks.
class Worker final : public Peer {
 public:
  bool busy() override { return left > 0 && left-- > 0; }
  [[nodiscard]] bool alive() override { return living; }
  std::string busiest() override { return "worker (1/1, R) 3 times"; }
  int left = 0;
  bool living = true;
};

/// How a program that was started says that it has got somewhere: `: > $BELL` in its shell.
class Doorbell {
 public:
  explicit Doorbell(const std::string& name) : temp_(name), pipe_(temp_.path() / "bell") {
    REQUIRE(::mkfifo(pipe_.c_str(), 0600) == 0);
    fd_ = ::open(pipe_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(fd_ >= 0);
  }
  ~Doorbell() { ::close(fd_); }
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  [[nodiscard]] std::map<std::string, std::string> environment() const { return {{"BELL", pipe_.string()}}; }
  /// False after 10 s.
  [[nodiscard]] bool rings() const {
    pollfd hung_up{fd_, POLLIN, 0};
    return ::poll(&hung_up, 1, 10'000) == 1;
  }

 private:
  TempFolder temp_;
  std::filesystem::path pipe_;
  int fd_ = -1;
};

bool not_interrupted() { return false; }

/// Scans each 100 ms of log time, transforms 10 ms before and after each.
std::filesystem::path recorded_bag(const TempFolder& temp) {
  auto writer = recording::BagWriter::create(temp.path() / "bag");
  REQUIRE(writer.ok());
  recording::Topic scan = recording::topic_for<ros_messages::LaserScan>("/scan");
  scan.qos = to_text(Qos::sensor_data());
  const auto at = writer->add_topic(scan).value();
  const auto tf = writer->add_topic(recording::topic_for<ros_messages::TFMessage>("/tf")).value();
  const auto own = writer
                       ->add_topic([] {
                         recording::Topic t;
                         t.name = "/own";
                         t.type = "team_msgs/msg/Thing";
                         t.type_hash = "RIHS01_" + std::string(64, 'a');
                         t.latched = true;
                         return t;
                       }())
                       .value();
  const std::string thing("\0\1\0\0\7\0\0\0", 8);
  REQUIRE(writer->write(own, Time{0}, Time{0}, recording::as_bytes(thing)).ok());
  for (std::int64_t k = 1; k <= 5; ++k) {
    const std::string transforms = ros_messages::write(ros_messages::TFMessage());
    ros_messages::LaserScan message;
    message.header.stamp = ros_messages::to_stamp(Time{k * 100 * kMillisecond});
    const std::string bytes = ros_messages::write(message);
    for (const std::int64_t off : {-10, 0, 10}) {
      const Time time{(k * 100 + off) * kMillisecond};
      REQUIRE(writer->write(off == 0 ? at : tf, time, time, recording::as_bytes(off == 0 ? bytes : transforms)).ok());
    }
  }
  REQUIRE(writer->close().ok());
  return temp.path() / "bag";
}

std::vector<recording::Topic> topics_of(const std::filesystem::path& bag) { return recording::BagReader::open(bag)->topics(); }

}  // namespace

TEST_CASE("QoS reads back from words and from rmw's numbers, and a wrong file is an error with its line") {
  for (const Qos& qos : {Qos::publish(), Qos::sensor_data(), Qos::latched(3), Qos{true, false, 0}})
    CHECK(*parse_qos(to_text(qos), "test") == qos);
  const auto numbers =
      parse_qos("- history: 1\n  depth: 5\n  reliability: 2\n  durability: 1\n  deadline:\n    sec: 9223372036\n    nsec: 1\n", "test");
  CHECK(*numbers == Qos{false, true, 5});
  CHECK(*parse_qos("", "test") == Qos::publish());
  CHECK(*parse_qos("[]", "test") == Qos::publish());
  CHECK(*parse_qos("- history: 3\n  reliability: unknown\n", "test") == Qos::publish());
  CHECK(parse_qos("- history: keep_last\n  depth: many\n", "test").error().message.find("test:2: depth 'many'") != std::string::npos);
  CHECK(parse_qos("- reliability: perhaps\n", "test").error().message.find("reliability 'perhaps'") != std::string::npos);
  CHECK_FALSE(parse_qos("a: b", "test").ok());
  CHECK_FALSE(parse_qos("[1", "test").ok());
}

TEST_CASE("a bag holds what was published, of any type, with its hash and the QoS of its publisher, also what was there before") {
  const TempFolder temp("bag_recorder");
  MemoryNetwork network(Time{1'000'000 * kMillisecond});
  MemoryGraph car(network, "/car"), graph(network, "/bridge_record");
  const std::string hash = "RIHS01_" + std::string(64, 'b');
  const auto map = car.advertise({"/map", "nav_msgs/msg/OccupancyGrid", Qos::latched()});
  const auto thing = car.advertise({"/thing", "team_msgs/msg/Thing", Qos::sensor_data(), hash});
  const auto ignored = car.advertise({"/ignored", "std_msgs/msg/String", Qos::publish()});
  const std::string payload("\0\1\0\0\1\2\3\4", 8);
  const std::string grid = ros_messages::write(ros_messages::OccupancyGrid());
  car.publish(*map, grid);
  BagRecorderOptions options;
  options.topics = {"/map", "/thing", "/late", "/never"};
  auto recorder = BagRecorder::make(temp.path() / "bag", options, graph);
  REQUIRE(recorder.ok());
  const auto run = [&](int ms) {
    for (int k = 0; k < ms; k += 10) {
      car.publish(*thing, payload);
      car.publish(*ignored, payload);
      graph.wait(network.now());
      (*recorder)->tick();
      network.advance(Duration{10 * kMillisecond});
    }
  };
  run(100);
  const auto late = car.advertise({"/late", "std_msgs/msg/String", Qos::publish()});
  run(300);
  car.publish(*late, ros_messages::write(ros_messages::String{"here"}));
  run(10);
  REQUIRE((*recorder)->close().ok());
  CHECK((*recorder)->missing() == std::vector<std::string>{"/never"});
  auto reader = recording::BagReader::open(temp.path() / "bag");
  REQUIRE(reader.ok());
  REQUIRE(reader->topics().size() == 3);
  const recording::Topic& of_thing =
      *std::find_if(reader->topics().begin(), reader->topics().end(), [](const auto& t) { return t.name == "/thing"; });
  CHECK(of_thing.type == "team_msgs/msg/Thing");
  CHECK(of_thing.type_hash == hash);
  CHECK(*parse_qos(of_thing.qos, "bag") == Qos::sensor_data());
  CHECK(of_thing.message_count == 41);
  const recording::Topic& of_map =
      *std::find_if(reader->topics().begin(), reader->topics().end(), [](const auto& t) { return t.name == "/map"; });
  CHECK(of_map.latched);
  CHECK(of_map.message_count == 1);
  CHECK_FALSE(of_map.schema.empty());
  bool same = false;
  while (const recording::BagMessage* message = reader->next()) {
    if (reader->topics()[message->topic].name == "/thing") same = recording::as_text(message->data) == payload;
  }
  CHECK(same);
}

TEST_CASE("a recording is given as it was recorded, transforms ahead, each scan to programs that are idle, and all after it too") {
  const TempFolder temp("graph_player");
  const auto bag = recorded_bag(temp);
  MemoryNetwork network(Time{1'000'000 * kMillisecond});
  MemoryGraph graph(network, "/bridge_replay"), node(network, "/slam");
  Worker worker;
  std::vector<std::string> got;
  std::int64_t clock_ms = 0;
  const auto hear = [&](const TopicSpec& topic, int work) {
    REQUIRE(node.subscribe(topic,
                           [&, work, name = topic.name](std::string_view cdr, const Arrival&) {
                             CHECK(worker.left == 0);
                             worker.left = work;
                             if (name == "/scan") {
                               const auto scan = ros_messages::read<ros_messages::LaserScan>(cdr);
                               CHECK(ros_messages::to_time(scan->header.stamp).ns / kMillisecond == clock_ms);
                             }
                             got.push_back(name);
                           })
                .ok());
  };
  hear({"/scan", "sensor_msgs/msg/LaserScan", Qos::sensor_data()}, 20);
  hear({"/tf", "tf2_msgs/msg/TFMessage", Qos::subscribe(100)}, 0);
  REQUIRE(subscribe<ros_messages::Clock>(node, "/clock", Qos::clock(), [&](const auto& m, const Arrival&) {
            clock_ms = ros_messages::to_time(m.clock).ns / kMillisecond;
          }).ok());
  network.when_idle = [&] { node.wait(network.now()); };
  GraphPlayerOptions options;
  options.required = {"/scan"};
  auto player = GraphPlayer::make(topics_of(bag), options, graph, &worker, not_interrupted);
  REQUIRE_MESSAGE(player.ok(), player.error().message);
  REQUIRE((*player)->connect().ok());
  recording::PlayerOptions how;
  how.lookahead = Duration{50 * kMillisecond};
  const auto report = recording::play({bag}, **player, how);
  REQUIRE_MESSAGE(report.ok(), report.error().message);
  REQUIRE((*player)->finish().ok());
  CHECK(report->gated == 5);
  CHECK(std::count(got.begin(), got.end(), "/scan") == 5);
  CHECK(got == std::vector<std::string>{"/tf", "/tf", "/scan", "/tf", "/tf", "/scan", "/tf", "/tf", "/scan", "/tf", "/tf", "/scan", "/tf",
                                        "/tf", "/scan"});
  // Of a type that nobody here knows, latched as it was, for those who come late.
  std::string late;
  REQUIRE(node.subscribe({"/own", "team_msgs/msg/Thing", Qos::latched()}, [&](std::string_view cdr, const Arrival&) { late = cdr; }).ok());
  node.wait(network.now());
  CHECK(late.size() == 8);
  const auto endpoints = graph.endpoints();
  CHECK(std::any_of(endpoints.begin(), endpoints.end(),
                    [](const Endpoint& e) { return e.topic.name == "/own" && e.topic.type_hash == "RIHS01_" + std::string(64, 'a'); }));
}

TEST_CASE("a SLAM gets the scans that it took in, one pose at a time, three that it rejects, and no corrections of then") {
  const auto times = [](std::initializer_list<std::int64_t> ms) {
    std::set<Time> out;
    for (const std::int64_t each : ms) out.insert(Time{each * kMillisecond});
    return out;
  };
  const std::set<Time> scans = times({0, 25, 50, 75, 100, 125, 150, 175, 200});
  const auto plan = plan_admissions(times({25, 125, 175}), scans);
  REQUIRE(plan.ok());
  CHECK(plan->sacrificed == times({50, 75, 100}));
  CHECK(plan_admissions(times({25, 30}), scans).error().message.find("1 poses have no scan of their stamp, the first at 30000000 ns") == 0);
  CHECK(plan_admissions(times({25, 100}), scans).error().message.find("only 2 scans") == 0);
  CHECK(plan_admissions(times({25}), scans)->sacrificed.empty());

  for (const bool rejects : {true, false}) {
    MemoryNetwork network(Time{1'000'000 * kMillisecond});
    MemoryGraph graph(network, "/replay"), slam(network, "/slam");
    Publisher<ros_messages::PoseWithCovarianceStamped> pose;
    REQUIRE(pose.open(slam, "/pose", Qos::publish()).ok());
    std::vector<std::int64_t> seen;
    std::size_t corrections = 0, transforms = 0;
    REQUIRE(subscribe<ros_messages::LaserScan>(slam, "/scan", Qos::subscribe(), [&](const auto& m, const Arrival&) {
              seen.push_back(ros_messages::to_time(m.header.stamp).ns / kMillisecond);
              if (rejects && seen.size() > 1 && seen.size() < 5) return;
              pose.publish({m.header, {}});
            }).ok());
    REQUIRE(subscribe<ros_messages::TFMessage>(slam, "/tf", Qos::subscribe(100), [&](const auto& m, const Arrival&) {
              for (const auto& t : m.transforms) (t.header.frame_id == "map" ? corrections : transforms) += 1;
            }).ok());
    network.when_idle = [&] { slam.wait(network.now()); };
    Worker worker;
    auto player =
        GraphPlayer::make({recording::topic_for<ros_messages::LaserScan>("/scan"), recording::topic_for<ros_messages::TFMessage>("/tf")},
                          {}, graph, &worker, not_interrupted);
    REQUIRE(player.ok());
    SlamFeedOptions options;
    options.plan = *plan;
    SlamFeed feed(options, **player);
    REQUIRE(feed.open(graph).ok());
    const auto give = [&](const std::string& topic, const auto& message, Time at) {
      const std::string bytes = ros_messages::write(message);
      return feed.give({topic, std::string(std::decay_t<decltype(message)>::kType), at, recording::as_bytes(bytes)});
    };
    Status status;
    for (const Time stamp : scans) {
      ros_messages::TFMessage tf;
      tf.transforms.resize(2);
      tf.transforms[0].header.frame_id = "map";
      tf.transforms[1].header.frame_id = "odom";
      if (status) status = give("/tf", tf, stamp);
      tf.transforms.resize(1);
      if (status) status = give("/tf", tf, stamp);
      ros_messages::LaserScan scan;
      scan.header.stamp = ros_messages::to_stamp(stamp);
      if (status) status = give("/scan", scan, stamp);
    }
    REQUIRE((*player)->finish().ok());
    CHECK(corrections == 0);
    if (rejects) {
      CHECK(status.ok());
      CHECK(feed.finish().ok());
      CHECK(seen == std::vector<std::int64_t>{25, 50, 75, 100, 125, 175});
      CHECK(feed.poses().size() == 3);
      CHECK(transforms == 9);
    } else {
      CHECK_FALSE(feed.finish().ok());
      CHECK(feed.finish().error().message.find("the scan of 50000000 ns was taken in") != std::string::npos);
    }
  }
}

TEST_CASE("a SLAM that does not answer is waited for, then the run goes on, but not for ever") {
  MemoryNetwork network(Time{1'000'000 * kMillisecond});
  MemoryGraph graph(network, "/replay");
  Worker worker;
  auto player = GraphPlayer::make({recording::topic_for<ros_messages::LaserScan>("/scan")}, {}, graph, &worker, not_interrupted);
  SlamFeedOptions options;
  for (int k = 0; k < 20; ++k) options.plan.admitted.insert(Time{k * 100 * kMillisecond});
  SlamFeed feed(options, **player);
  REQUIRE(feed.open(graph).ok());
  Status status;
  int given = 0;
  for (; given < 20 && status; ++given) {
    ros_messages::LaserScan scan;
    scan.header.stamp = ros_messages::to_stamp(Time{given * 100 * kMillisecond});
    const std::string bytes = ros_messages::write(scan);
    status = feed.give({"/scan", "sensor_msgs/msg/LaserScan", {}, recording::as_bytes(bytes)});
  }
  CHECK(given == 11);
  CHECK(network.now() - Time{1'000'000 * kMillisecond} >= Duration{110'000 * kMillisecond});
  CHECK(status.error().message.find("11 poses in a row did not come: 0, 100000000,") == 0);
}

TEST_CASE("a player says who does not listen, who cannot, who died, and who is not_interrupted idle") {
  const TempFolder temp("graph_player_errors");
  const auto bag = recorded_bag(temp);
  const auto topics = topics_of(bag);
  MemoryNetwork network(Time{1'000'000 * kMillisecond});
  MemoryGraph graph(network, "/bridge_replay"), node(network, "/slam");
  Worker worker;
  GraphPlayerOptions options;
  options.required = {"/scan"};
  options.connect_timeout = Duration{5'000 * kMillisecond};
  options.idle_timeout = Duration{1'000 * kMillisecond};
  auto player = GraphPlayer::make(topics, options, graph, &worker, not_interrupted);
  REQUIRE(player.ok());
  CHECK((*player)->connect().error().message == "after 5 s nobody reads /scan");
  REQUIRE(node.subscribe({"/tf", "tf2_msgs/msg/TFMessage", Qos::latched()}, [](std::string_view, const Arrival&) {}).ok());
  REQUIRE(node.subscribe({"/scan", "sensor_msgs/msg/LaserScan", Qos::sensor_data()}, [](std::string_view, const Arrival&) {}).ok());
  CHECK((*player)->connect().error().message == "/tf: offered reliable, volatile, /slam asks for reliable, transient local");
  worker.left = 1'000'000;
  const auto stuck = recording::play({bag}, **player, {});
  REQUIRE_FALSE(stuck.ok());
  CHECK(stuck.error().message.find("not idle within 1 s; busy most often: worker (1/1, R)") != std::string::npos);
  worker.living = false;
  CHECK(recording::play({bag}, **player, {}).error().message.find("the program died") != std::string::npos);
  options.required = {"/image"};
  CHECK(GraphPlayer::make(topics, options, graph, &worker, not_interrupted).error().message.find("/image is not in the recording") !=
        std::string::npos);
  CHECK(GraphPlayer::make(topics, {}, graph, nullptr, [] { return true; }).value()->connect().error().message.find("interrupted") !=
        std::string::npos);
}

TEST_CASE("a program that was started is busy while it computes, and while it waits it is not; it is stopped by SIGINT, or killed") {
  const Doorbell computes("busy_peer");
  auto busy = LaunchedPeer::start("sh -c ': > $BELL; while :; do :; done'", computes.environment());
  REQUIRE(busy.ok());
  REQUIRE(computes.rings());
  for (int look = 0; look < 20; ++look) CHECK((*busy)->busy());
  CHECK((*busy)->busiest().find("sh (") != std::string::npos);
  CHECK((*busy)->alive());

  auto idle = LaunchedPeer::start("sleep 100", {});
  REQUIRE(idle.ok());
  // Nothing tells that it has begun to sleep but what is tested here.
  int looks = 0;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10); looks < 50 && std::chrono::steady_clock::now() < end;)
    looks = (*idle)->busy() ? 0 : looks + 1;
  CHECK(looks == 50);
  CHECK((*idle)->stop().ok());
  CHECK_FALSE((*idle)->alive());

  const Doorbell deaf_now("deaf_peer");
  auto deaf = LaunchedPeer::start("sh -c 'trap \"\" INT; : > $BELL; while :; do sleep 0.05; done'", deaf_now.environment());
  REQUIRE(deaf.ok());
  REQUIRE(deaf_now.rings());
  const Status killed = (*deaf)->stop(Duration{200 * kMillisecond});
  REQUIRE_FALSE(killed.ok());
  CHECK(killed.error().message.find("was killed") != std::string::npos);
  auto failing = LaunchedPeer::start("sh -c 'exit $CODE'", {{"CODE", "7"}});
  REQUIRE(failing.ok());
  REQUIRE((*failing)->wait_end(Duration{10'000 * kMillisecond}));
  const Status failed = (*failing)->stop();
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().message.find("exit code 7") != std::string::npos);
}

}  // namespace pitwall::ros_bridge
