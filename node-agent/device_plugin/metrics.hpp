// Metrics — what the plugin has answered to the kubelet and how it stands, at /metrics, and
// /healthz (the program lives). Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/http/tls_context.hpp"
#include "node-agent/device_plugin/plugin.hpp"

namespace chipweave::device_plugin {

class Metrics {
 public:
  // resources: each has a plugin. vendor: whether a vendor's plugin is kept behind this one.
  Metrics(http::Loop& loop, const std::vector<std::string>& resources, bool vendor);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Returns the port (port 0: any free one). tls: null for plain HTTP.
  Result<std::uint16_t> start(const std::string& host, std::uint16_t port,
                              std::shared_ptr<http::TlsContext> tls);
  void answered(const std::string& resource, std::string_view call, std::string_view outcome,
                std::chrono::nanoseconds took);
  void standing(const std::string& resource, const PluginStanding& standing);
  void gate(bool open);
  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::device_plugin
