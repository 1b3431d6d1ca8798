// SPDX-License-Identifier: Apache-2.0
// Recordings on disk as people keep, rename, cut and lose them.
#include "recording/bag_reader.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_writer.hpp"
#include "recording/compression.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {
namespace {

namespace fs = std::filesystem;

Topic topic(const std::string& name, const std::string& type = "std_msgs/msg/String") {
  Topic made;
  made.name = name;
  made.type = type;
  made.latched = name == "/map" || name == "/tf_static";
  return made;
}

struct BagText {
  std::string topic;
  std::int64_t time = 0;
  std::string data;
};

/// A bag of these messages.
void write_bag(const fs::path& folder, const std::vector<BagText>& messages, const WriteOptions& options = {}) {
  auto writer = BagWriter::create(folder, options);
  REQUIRE(writer.ok());
  for (const BagText& message : messages) {
    const auto index =
        writer->add_topic(topic(message.topic, message.topic == "/tf_static" ? "tf2_msgs/msg/TFMessage" : "std_msgs/msg/String"));
    REQUIRE(index.ok());
    REQUIRE(writer->write(*index, {message.time}, {message.time}, as_bytes(message.data)).ok());
  }
  REQUIRE(writer->close().ok());
}

std::vector<std::string> read(const fs::path& path, const ReadOptions& options = {}, std::string* findings = nullptr) {
  auto reader = BagReader::open(path, options);
  REQUIRE_MESSAGE(reader.ok(), (reader.ok() ? "" : reader.error().message));
  std::vector<std::string> all;
  for (int again = 0; again < 2; ++again) {  // reading once more gives the same
    std::vector<std::string> now;
    while (const BagMessage* message = reader->next()) {
      now.push_back(std::string(message->latched_before_start ? "latched " : "") + reader->topics()[message->topic].name + "@" +
                    std::to_string(message->log_time.ns) + "=" + std::string(as_text(message->data)));
    }
    if (again > 0) CHECK(now == all);
    all = now;
    reader->rewind();
  }
  if (findings != nullptr) {
    for (const Finding& finding : reader->findings()) *findings += finding.text() + "\n";
  }
  return all;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("filters by topic and by time, ends included; an unknown topic is an error that names the nearest") {
  const TempFolder temp("reader");
  write_bag(temp.path() / "bag", {{"/a", 10, "1"}, {"/b", 20, "2"}, {"/a", 30, "3"}, {"/b", 40, "4"}});
  ReadOptions options;
  options.topics = {"/b"};
  CHECK(read(temp.path() / "bag", options) == Lines{"/b@20=2", "/b@40=4"});
  options.topics = {};
  options.start = Time{20};
  options.end = Time{30};
  CHECK(read(temp.path() / "bag", options) == Lines{"/b@20=2", "/a@30=3"});
  options.topics = {"/c"};
  const auto unknown = BagReader::open(temp.path() / "bag", options);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("unknown topic '/c'") != std::string::npos);
}

TEST_CASE("with a start, what was latched then comes first: all transforms, the last of the others") {
  const TempFolder temp("reader");
  write_bag(temp.path() / "bag",
            {{"/tf_static", 1, "laser"}, {"/map", 2, "old"}, {"/a", 3, "a"}, {"/tf_static", 4, "imu"}, {"/map", 5, "new"}, {"/a", 6, "b"}});
  ReadOptions options;
  options.start = Time{6};
  CHECK(read(temp.path() / "bag", options) ==
        Lines{"latched /tf_static@1=laser", "latched /tf_static@4=imu", "latched /map@5=new", "/a@6=b"});
  options.latched_before_start = false;
  CHECK(read(temp.path() / "bag", options) == Lines{"/a@6=b"});
}

TEST_CASE("splits that overlap in time are merged; equal times in the order of the files") {
  const TempFolder temp("reader");
  write_bag(temp.path() / "x", {{"/a", 10, "x1"}, {"/a", 30, "x2"}, {"/a", 50, "x3"}});
  write_bag(temp.path() / "y", {{"/a", 20, "y1"}, {"/a", 30, "y2"}, {"/b", 40, "y3"}});
  fs::create_directory(temp.path() / "bag");
  fs::copy_file(temp.path() / "x" / "x_0.mcap", temp.path() / "bag" / "run_9.mcap");
  fs::copy_file(temp.path() / "y" / "y_0.mcap", temp.path() / "bag" / "run_10.mcap");
  std::string findings;
  CHECK(read(temp.path() / "bag", {}, &findings) == Lines{"/a@10=x1", "/a@20=y1", "/a@30=x2", "/a@30=y2", "/b@40=y3", "/a@50=x3"});
  CHECK(findings.find("metadata.yaml: offset 0: is missing") != std::string::npos);
  auto reader = BagReader::open(temp.path() / "bag");
  CHECK(reader->files().at(0).ends_with("run_9.mcap"));
  CHECK(reader->start()->ns == 10);
  CHECK(reader->end()->ns == 50);
  CHECK(reader->topics().at(0).message_count == 5);
}

TEST_CASE("metadata that is stale, newer, unreadable, or lists what is gone does not hide what is there") {
  const TempFolder temp("reader");
  WriteOptions options;
  options.split_after = {25};
  write_bag(temp.path() / "run", {{"/a", 10, "1"}, {"/a", 20, "2"}, {"/a", 40, "3"}, {"/a", 70, "4"}}, options);
  const std::string whole = read_file(temp.path() / "run" / "metadata.yaml").value();
  const Lines all = {"/a@10=1", "/a@20=2", "/a@40=3", "/a@70=4"};
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    temp.write("run/metadata.yaml", text);
    std::string findings;
    CHECK(read(temp.path() / "run", {}, &findings) == all);
    return findings;
  };
  CHECK(with("version: 9", "version: 12").find("metadata version 12 is newer than 9") != std::string::npos);
  CHECK(with("message_count: 4", "message_count: 2").find("metadata says 2 messages, the files hold 4") != std::string::npos);
  CHECK(with("    - \"run_2.mcap\"\n", "").find("does not list run_2.mcap; read it as a later split") != std::string::npos);
  CHECK(with("    - \"run_2.mcap\"\n", "    - \"run_2.mcap\"\n    - \"run_3.mcap\"\n").find("lists run_3.mcap, which is not there") !=
        std::string::npos);
  CHECK(with("version: 9", "version: [9").find("is unreadable") != std::string::npos);
  CHECK(with("rosbag2_bagfile", "other").find("has no rosbag2_bagfile_information") != std::string::npos);
  temp.write("run/copy.mcap", read_file(temp.path() / "run" / "run_0.mcap").value());
  CHECK(with("version: 9", "version: 9").find("copy.mcap lies beside the files listed and is no split of theirs") != std::string::npos);
}

TEST_CASE("a recording is known by its content, not by its name") {
  const TempFolder temp("reader");
  write_bag(temp.path() / "bag", {{"/a", 10, "1"}});
  const std::string bytes = read_file(temp.path() / "bag" / "bag_0.mcap").value();
  for (const char* name : {"recording.db3", "recording", "recording.zstd"}) {
    const fs::path file = temp.write(name, bytes);
    CHECK(read(file) == Lines{"/a@10=1"});
    fs::remove(file);
  }
  CHECK_FALSE(BagReader::open(temp.write("notes.txt", "no recording")).ok());
  CHECK_FALSE(BagReader::open(temp.path() / "nothing").ok());
  fs::create_directory(temp.path() / "empty");
  const auto empty = BagReader::open(temp.path() / "empty");
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.error().message.find("holds no recording") != std::string::npos);
}

TEST_CASE("file compression: one split at a time in a temporary file that is gone afterwards, also where it is cut off") {
  const TempFolder temp("reader");
  WriteOptions options;
  options.split_after = {25};
  options.compression = Compression::kNone;
  std::vector<BagText> messages;
  for (int k = 0; k < 40; ++k)
    messages.push_back({"/a", 2 * k, std::string(5000, static_cast<char>('a' + k % 26)) + std::to_string(k * 7919)});
  write_bag(temp.path() / "run", messages, options);
  const Lines all = read(temp.path() / "run");
  const auto leftovers = [] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(fs::temp_directory_path())) {
      count += entry.path().filename().string().starts_with("pitwall_" + std::to_string(::getpid()) + "_") ? 1 : 0;
    }
    return count;
  };
  for (const auto& entry : std::vector<fs::directory_entry>(fs::directory_iterator(temp.path() / "run"), {})) {
    if (entry.path().extension() != ".mcap") continue;
    Buffer packed;
    const std::string bytes = read_file(entry.path()).value();
    compress_zstd(as_bytes(bytes), 1, packed);
    temp.write("run/" + entry.path().filename().string() + ".zstd", as_text(packed));
  }
  CHECK(read(temp.path() / "run") == all);  // what a player has left behind decompressed is not read twice
  for (const auto& entry : std::vector<fs::directory_entry>(fs::directory_iterator(temp.path() / "run"), {})) {
    if (entry.path().extension() == ".mcap") fs::remove(entry.path());
  }
  CHECK(read(temp.path() / "run") == all);
  CHECK(leftovers() == 0);
  const std::string last = read_file(temp.path() / "run" / "run_0.mcap.zstd").value();
  temp.write("run/run_0.mcap.zstd", last.substr(0, last.size() - 20));
  std::string findings;
  CHECK(read(temp.path() / "run", {}, &findings).size() >= all.size() - 13);
  CHECK(findings.find("the zstd data end early; kept what decodes before") != std::string::npos);
  CHECK(leftovers() == 0);
}

TEST_CASE("messages that are zstd frames are undone with or without the metadata that says so") {
  const TempFolder temp("reader");
  Buffer packed;
  const std::string text(1000, 'x');
  compress_zstd(as_bytes(text), 1, packed);
  write_bag(temp.path() / "bag", {{"/a", 10, std::string(as_text(packed))}});
  CHECK(read(temp.path() / "bag") == Lines{"/a@10=" + text});
  const std::string broken = std::string(as_text(packed)).substr(0, packed.size() - 3);
  write_bag(temp.path() / "cut", {{"/a", 10, broken}});
  std::string findings;
  CHECK(read(temp.path() / "cut", {}, &findings) == Lines{"/a@10=" + broken});
  CHECK(findings.find("a compressed message of /a at 10 ns is damaged") != std::string::npos);
}

TEST_CASE("more files than may be open at once, all overlapping with the one before") {
  const TempFolder temp("reader");
  fs::create_directory(temp.path() / "bag");
  Lines expected;
  for (int k = 0; k < 80; ++k) {
    const fs::path folder = temp.path() / "part";
    write_bag(folder, {{"/a", 10 * k, "first"}, {"/a", 10 * k + 15, "second"}});
    fs::rename(folder / "part_0.mcap", temp.path() / "bag" / ("run_" + std::to_string(k) + ".mcap"));
    fs::remove_all(folder);
  }
  const Lines all = read(temp.path() / "bag");
  CHECK(all.size() == 160);
  std::int64_t last = -1;
  for (const std::string& line : all) {
    const std::int64_t time = std::stoll(line.substr(line.find('@') + 1));
    CHECK(time >= last);
    last = time;
  }
}

TEST_CASE("one finding is said once, however often a file is read; a million become a thousand and a count") {
  Findings findings;
  for (int k = 0; k < 3; ++k) findings.add({Severity::kNote, "f", 1, "same", ""});
  CHECK(findings.all().size() == 1);
  CHECK_FALSE(findings.damaged());
  for (std::uint64_t k = 0; k < 5000; ++k) findings.add({Severity::kDamage, "f", k, "other", "kept"});
  CHECK(findings.damaged());
  CHECK(findings.all().size() == Findings::kMost);
  CHECK(findings.all().back().what == "4002 more findings, up to here");
  CHECK(findings.all()[1].text() == "f: offset 0: other; kept");
}

}  // namespace pitwall::recording
