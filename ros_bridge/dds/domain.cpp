// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/domain.hpp"

#include <dds/dds.h>
#include <dds/ddsrt/log.h>

#include <map>
#include <mutex>

#include "core/log.hpp"
#include "core/text.hpp"

namespace pitwall::ros_bridge {
namespace {

/// What Cyclone DDS has to say goes to our log; while a domain is opened, into that call's error.
class CycloneLog {
 public:
  CycloneLog() { dds_set_log_sink(&CycloneLog::line, this); }

  void collect() {
    const std::lock_guard lock(mutex_);
    collecting_ = true;
    text_.clear();
  }
  std::string collected() {
    const std::lock_guard lock(mutex_);
    collecting_ = false;
    return text_;
  }

 private:
  static void line(void* self, const dds_log_data_t* data) {
    const std::string_view message = trim({data->message, data->size});
    if ((data->priority & (DDS_LC_FATAL | DDS_LC_ERROR | DDS_LC_WARNING)) != 0) static_cast<CycloneLog*>(self)->add(message);
  }
  void add(std::string_view message) {
    const std::lock_guard lock(mutex_);
    if (!collecting_) return log::warn("Cyclone DDS: " + std::string(message));
    text_ += (text_.empty() ? "" : "; ") + std::string(message);
  }

  std::mutex mutex_;
  bool collecting_ = false;
  std::string text_;
};

CycloneLog& cyclone_log() {
  static auto* log = new CycloneLog;  // Cyclone DDS may speak until the process ends
  return *log;
}

struct OpenDomain {
  dds_entity_t handle = 0;
  int shares = 0;
};
std::mutex domains_mutex;
std::map<std::uint32_t, OpenDomain>& domains() {
  static std::map<std::uint32_t, OpenDomain> open;
  return open;
}

Result<dds_entity_t> create(const DdsSettings& settings) {
  cyclone_log().collect();
  const dds_entity_t handle = dds_create_domain(settings.domain, cyclone_config(settings).c_str());
  const std::string said = cyclone_log().collected();
  if (handle >= 0) return handle;
  std::string message = "DDS domain " + std::to_string(settings.domain) + ": " + (said.empty() ? dds_strretcode(handle) : said);
  if (said.find("participant index") != std::string::npos) {
    message +=
        "; as many processes of this machine as there may be are in the domain: end some, or raise Discovery/MaxAutoParticipantIndex in "
        "CYCLONEDDS_URI";
  }
  if (!settings.cyclone_uri.empty()) message += " (CYCLONEDDS_URI='" + settings.cyclone_uri + "')";
  return Error{message};
}

}  // namespace

Result<std::unique_ptr<Domain>> Domain::open(const DdsSettings& settings) {
  const std::lock_guard lock(domains_mutex);
  OpenDomain& domain = domains()[settings.domain];
  if (domain.shares == 0) {
    const Result<dds_entity_t> handle = create(settings);
    if (!handle) return handle.error();
    domain.handle = *handle;
  }
  ++domain.shares;
  return std::unique_ptr<Domain>(new Domain(settings.domain));
}

Domain::~Domain() {
  const std::lock_guard lock(domains_mutex);
  OpenDomain& domain = domains()[number_];
  if (--domain.shares == 0) dds_delete(domain.handle);
}

}  // namespace pitwall::ros_bridge
