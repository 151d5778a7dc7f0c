// The Model Context Protocol: what a line of the client means, and what it is answered with.
//
// Two eras of the protocol are spoken. Up to 2025-11-25 a client opens with `initialize`; from 2026-07-28 on
// every request carries its version, and nothing is remembered between two of them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "mcp/resources.h"
#include "mcp/tool.h"

namespace kforge::mcp {

class Server {
 public:
  // `send` gives a line to the client; from any thread.
  Server(std::vector<Tool> tools, Resources resources, std::function<void(std::string)> send);
  // Cancels calls that still run, and waits for them.
  ~Server();

  // One line of the client. Calls of tools go on in threads of their own; everything else is answered at
  // once.
  void receive(std::string_view line);

  static constexpr std::size_t kMostCalls = 8;  // at once

 private:
  struct Call {
    std::jthread thread;
    std::atomic<bool> done{false};
  };
  using Answer = std::expected<Json, RpcError>;

  Answer answer(const RpcMessage& message, bool modern);
  Answer initialize(const Json& params);
  Json discover() const;
  Json tool_list() const;
  Answer prompt(const Json& params) const;
  void call_tool(const RpcMessage& message, bool modern);
  void run_call(const Tool& tool, const RpcMessage& message, bool modern, const std::stop_token& stop);
  void cancel(const Json& params);
  void forget_ended_calls();

  const std::vector<Tool> tools_;
  Resources resources_;
  std::function<void(std::string)> send_;
  std::map<std::string, std::unique_ptr<Call>> calls_;  // by the id's text; touched by receive() alone
};

}  // namespace kforge::mcp
