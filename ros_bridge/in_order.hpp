// SPDX-License-Identifier: Apache-2.0
// A graph whose messages are handed out in the order in which they came, across topics. A transport that looks at its readers one after
// another may find on the second what came after something that it just missed on the first (once in 800 decisions over loopback); in
// lockstep that is another run. What has come since the readers were last looked at therefore waits for the next look.
#pragma once

#include <memory>
#include <vector>

#include "ros_bridge/graph.hpp"

namespace pitwall::ros_bridge {

class InOrder final : public Graph {
 public:
  /// `inner` outlives it; its Arrival::received must be when the message came, not when it was looked at.
  explicit InOrder(Graph& inner) : inner_(inner) {}

  Result<PublisherId> advertise(const TopicSpec& topic) override { return inner_.advertise(topic); }
  bool publish(PublisherId publisher, std::string_view cdr) override { return inner_.publish(publisher, cdr); }
  [[nodiscard]] std::size_t readers_of(PublisherId publisher) const override { return inner_.readers_of(publisher); }
  Status subscribe(const TopicSpec& topic, Handler handler) override;
  [[nodiscard]] std::vector<Endpoint> endpoints() const override { return inner_.endpoints(); }
  [[nodiscard]] Time now() const override { return inner_.now(); }
  void wait(Time until) override;

 private:
  struct Waiting {
    const Handler* handler = nullptr;
    std::string cdr;
    Arrival arrival;
  };

  Graph& inner_;
  std::vector<std::unique_ptr<Handler>> handlers_;
  std::vector<Waiting> waiting_;
};

}  // namespace pitwall::ros_bridge
