// SPDX-License-Identifier: Apache-2.0
// A second implementation as the other process of fast_dds_test: eProsima Fast DDS, with its own CDR (fastcdr), its own list of fields and
// nothing of ours. Sends what comes on TOPIC, read and written again, back on TOPIC/back; tells on /seen what it knows of others when
// something comes on /ask. Ends with its standard input.
//   fast_dds_peer DOMAIN
#include <fastcdr/Cdr.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using eprosima::fastcdr::Cdr;
using eprosima::fastrtps::rtps::SerializedPayload_t;
namespace fast = eprosima::fastdds::dds;

// The fields of common_interfaces (Jazzy), in order; numbers of one kind in a row are one array, since CDR does not tell them apart.
struct Header {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  std::string frame_id;
  template <class Archive>
  void fields(Archive& a) {
    a(sec, nanosec, frame_id);
  }
};
struct Scan {
  static constexpr const char* kType = "sensor_msgs::msg::dds_::LaserScan_";
  Header header;
  std::array<float, 7> numbers{};  // angle_min, angle_max, angle_increment, time_increment, scan_time, range_min, range_max
  std::vector<float> ranges, intensities;
  template <class Archive>
  void fields(Archive& a) {
    a(header, numbers, ranges, intensities);
  }
};
struct Odometry {
  static constexpr const char* kType = "nav_msgs::msg::dds_::Odometry_";
  Header header;
  std::string child_frame_id;
  std::array<double, 7 + 36 + 6 + 36> numbers{};  // pose, its covariance, twist, its covariance
  template <class Archive>
  void fields(Archive& a) {
    a(header, child_frame_id, numbers);
  }
};
struct Drive {
  static constexpr const char* kType = "ackermann_msgs::msg::dds_::AckermannDriveStamped_";
  Header header;
  std::array<float, 5> numbers{};  // steering_angle, steering_angle_velocity, speed, acceleration, jerk
  template <class Archive>
  void fields(Archive& a) {
    a(header, numbers);
  }
};
struct Joy {
  static constexpr const char* kType = "sensor_msgs::msg::dds_::Joy_";
  Header header;
  std::vector<float> axes;
  std::vector<std::int32_t> buttons;
  template <class Archive>
  void fields(Archive& a) {
    a(header, axes, buttons);
  }
};
struct Transform {
  Header header;
  std::string child_frame_id;
  std::array<double, 7> numbers{};  // translation, rotation
  template <class Archive>
  void fields(Archive& a) {
    a(header, child_frame_id, numbers);
  }
};
struct Tf {
  static constexpr const char* kType = "tf2_msgs::msg::dds_::TFMessage_";
  std::vector<Transform> transforms;
  template <class Archive>
  void fields(Archive& a) {
    a(transforms);
  }
};
struct String {
  static constexpr const char* kType = "std_msgs::msg::dds_::String_";
  std::string data;
  template <class Archive>
  void fields(Archive& a) {
    a(data);
  }
};
using Gid = std::array<std::uint8_t, 16>;
struct Node {
  std::string space, name;
  std::vector<Gid> readers, writers;
  template <class Archive>
  void fields(Archive& a) {
    a(space, name, readers, writers);
  }
};
struct Participant {
  static constexpr const char* kType = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";
  Gid gid{};
  std::vector<Node> nodes;
  template <class Archive>
  void fields(Archive& a) {
    a(gid, nodes);
  }
};

template <class T>
constexpr bool kIsStruct = requires {
  &T::template fields<Cdr>;
};
template <class T>
constexpr bool kIsSequence = false;
template <class T>
constexpr bool kIsSequence<std::vector<T>> = true;

struct Reading {
  Cdr& cdr;
  template <class... Fields>
  void operator()(Fields&... fields) {
    (field(fields), ...);
  }
  template <class T>
  void field(T& value) {
    if constexpr (kIsStruct<T>) {
      value.fields(*this);
    } else if constexpr (kIsSequence<T>) {
      std::uint32_t count = 0;
      cdr >> count;
      value.resize(count);
      for (auto& each : value) field(each);
    } else {
      cdr >> value;
    }
  }
};
struct Writing {
  Cdr& cdr;
  template <class... Fields>
  void operator()(Fields&... fields) {
    (field(fields), ...);
  }
  template <class T>
  void field(T& value) {
    if constexpr (kIsStruct<T>) {
      value.fields(*this);
    } else if constexpr (kIsSequence<T>) {
      cdr << static_cast<std::uint32_t>(value.size());
      for (auto& each : value) field(each);
    } else {
      cdr << value;
    }
  }
};

/// A message with the first two bytes that it is to be sent with.
template <class Message>
struct Sample {
  Message message;
  std::uint8_t encapsulation = 1;  // 0: big endian; 1: little endian; others are no plain CDR
};

template <class Message>
class Type final : public fast::TopicDataType {
 public:
  Type() {
    setName(Message::kType);
    m_typeSize = 1U << 16U;
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }
  bool serialize(void* data, SerializedPayload_t* payload) override {
    auto& sample = *static_cast<Sample<Message>*>(data);
    eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->max_size);
    Cdr cdr(buffer, sample.encapsulation == 0 ? Cdr::BIG_ENDIANNESS : Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR);
    cdr.serialize_encapsulation();
    Writing writing{cdr};
    sample.message.fields(writing);
    payload->length = static_cast<std::uint32_t>(cdr.getSerializedDataLength());
    payload->data[1] = sample.encapsulation;
    return true;
  }
  bool deserialize(SerializedPayload_t* payload, void* data) override {
    eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->length);
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    cdr.read_encapsulation();
    Reading reading{cdr};
    static_cast<Sample<Message>*>(data)->message.fields(reading);
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* /*data*/) override {
    return [size = m_typeSize] { return size; };
  }
  void* createData() override { return new Sample<Message>; }
  void deleteData(void* data) override { delete static_cast<Sample<Message>*>(data); }
  bool getKey(void* /*data*/, fast::InstanceHandle_t* /*handle*/, bool /*force_md5*/) override { return false; }
};

std::string text_of(const fast::UserDataQosPolicy& data) { return {data.begin(), data.end()}; }

/// What discovery tells, a line each.
class Witness final : public fast::DomainParticipantListener {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    seen_ += line + "\n";
  }
  std::string seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  void on_participant_discovery(fast::DomainParticipant* /*own*/, eprosima::fastrtps::rtps::ParticipantDiscoveryInfo&& info) override {
    add("participant " + text_of(info.info.m_userData));
  }
  void on_publisher_discovery(fast::DomainParticipant* /*own*/, eprosima::fastrtps::rtps::WriterDiscoveryInfo&& info) override {
    add_endpoint("writer", info.info, info.info.m_qos);
  }
  void on_subscriber_discovery(fast::DomainParticipant* /*own*/, eprosima::fastrtps::rtps::ReaderDiscoveryInfo&& info) override {
    add_endpoint("reader", info.info, info.info.m_qos);
  }

 private:
  template <class Info, class Qos>
  void add_endpoint(const std::string& kind, const Info& info, const Qos& qos) {
    add(kind + " " + info.topicName().to_string() + " " + info.typeName().to_string() +
        (qos.m_reliability.kind == fast::RELIABLE_RELIABILITY_QOS ? " reliable" : " best_effort") +
        (qos.m_durability.kind == fast::VOLATILE_DURABILITY_QOS ? " volatile " : " latched ") + text_of(qos.m_userData));
  }
  std::mutex mutex_;
  std::string seen_;
};

class Peer {
 public:
  explicit Peer(std::uint32_t domain) {
    fast::DomainParticipantQos qos = fast::PARTICIPANT_QOS_DEFAULT;
    auto loopback = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    loopback->interfaceWhiteList.emplace_back("127.0.0.1");
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(loopback);
    // As rmw_fastrtps_cpp does for ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST.
    eprosima::fastrtps::rtps::Locator_t localhost;
    eprosima::fastrtps::rtps::IPLocator::setIPv4(localhost, 127, 0, 0, 1);
    qos.wire_protocol().builtin.initialPeersList.push_back(localhost);
    qos.user_data().setValue({'e', 'n', 'c', 'l', 'a', 'v', 'e', '=', '/', ';'});
    participant_ = fast::DomainParticipantFactory::get_instance()->create_participant(domain, qos, &witness_, fast::StatusMask::none());
    publisher_ = participant_->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
    subscriber_ = participant_->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
  }
  ~Peer() {
    participant_->delete_contained_entities();
    fast::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  Witness& witness() { return witness_; }
  const eprosima::fastrtps::rtps::GUID_t& guid() const { return participant_->guid(); }

  template <class Message>
  fast::DataWriter* writer(const std::string& topic, bool latched = false) {
    fast::DataWriterQos qos = fast::DATAWRITER_QOS_DEFAULT;
    qos.durability().kind = latched ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
    for (const char c : std::string("typehash=RIHS01_") + std::string(64, 'f') + ";")
      qos.user_data().push_back(static_cast<unsigned char>(c));
    return publisher_->create_datawriter(this->topic<Message>(topic), qos);
  }
  /// `handle(message)` on the thread of Fast DDS.
  template <class Message, class Handle>
  fast::DataReader* reader(const std::string& topic, bool latched, Handle&& handle) {
    fast::DataReaderQos qos = fast::DATAREADER_QOS_DEFAULT;
    qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
    qos.history().depth = 10;
    qos.durability().kind = latched ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
    struct Listener final : fast::DataReaderListener {
      explicit Listener(std::function<void(Sample<Message>&)> to) : handle(std::move(to)) {}
      void on_data_available(fast::DataReader* from) override {
        Sample<Message> sample;
        fast::SampleInfo info;
        while (from->take_next_sample(&sample, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
          if (info.valid_data) handle(sample);
        }
      }
      std::function<void(Sample<Message>&)> handle;
    };
    listeners_.push_back(std::make_unique<Listener>(handle));
    return subscriber_->create_datareader(this->topic<Message>(topic), qos, listeners_.back().get());
  }
  template <class Message>
  void echo(const std::string& name) {
    fast::DataWriter* back = writer<Message>(name + "/back");
    reader<Message>(name, false, [back](Sample<Message>& sample) { back->write(&sample); });
  }

 private:
  template <class Message>
  fast::Topic* topic(const std::string& name) {
    if (auto* known = dynamic_cast<fast::Topic*>(participant_->lookup_topicdescription(name))) return known;
    fast::TypeSupport(new Type<Message>).register_type(participant_);
    return participant_->create_topic(name, Message::kType, fast::TOPIC_QOS_DEFAULT);
  }

  Witness witness_;
  std::vector<std::unique_ptr<fast::DataReaderListener>> listeners_;
  fast::DomainParticipant* participant_ = nullptr;
  fast::Publisher* publisher_ = nullptr;
  fast::Subscriber* subscriber_ = nullptr;
};

Gid gid_of(const eprosima::fastrtps::rtps::GUID_t& guid) {
  Gid gid;
  for (std::size_t i = 0; i < gid.size(); ++i) gid[i] = i < 12 ? guid.guidPrefix.value[i] : guid.entityId.value[i - 12];
  return gid;
}

}  // namespace

int main(int /*count*/, char** args) {
  Peer peer(static_cast<std::uint32_t>(std::atoi(args[1])));
  peer.echo<Scan>("rt/scan");
  peer.echo<Odometry>("rt/odom");
  peer.echo<Drive>("rt/drive");
  peer.echo<Tf>("rt/tf");
  peer.echo<Joy>("rt/joy");

  fast::DataWriter* big_endian = peer.writer<Joy>("rt/joy_big_endian");
  fast::DataWriter* damaged = peer.writer<Joy>("rt/joy_damaged");
  peer.reader<Joy>("rt/joy_otherwise", false, [&](Sample<Joy>& sample) {
    sample.encapsulation = 0;
    big_endian->write(&sample);
    sample.encapsulation = 7;  // XCDR2
    damaged->write(&sample);
    sample.encapsulation = 1;
    damaged->write(&sample);
  });

  peer.reader<Participant>("ros_discovery_info", true, [&](Sample<Participant>& sample) {
    for (const Node& node : sample.message.nodes) {
      peer.witness().add("node " + node.space + " " + node.name + " " + std::to_string(node.readers.size()) + " readers " +
                         std::to_string(node.writers.size()) + " writers");
    }
  });
  fast::DataWriter* seen = peer.writer<String>("rt/seen");
  peer.reader<String>("rt/ask", false, [&](Sample<String>& sample) {
    sample.message.data = peer.witness().seen();
    seen->write(&sample);
  });
  Sample<Participant> own;
  own.message = {gid_of(peer.guid()), {{"/", "fast_peer", {}, {gid_of(seen->guid())}}}};
  peer.writer<Participant>("ros_discovery_info", true)->write(&own);

  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
