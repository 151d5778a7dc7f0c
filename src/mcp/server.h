// The Model Context Protocol: what a message of a client means, and what it is answered with.
//
// Two eras of the protocol are spoken. Up to 2025-11-25 a client opens with `initialize`; from 2026-07-28 on
// every request carries its version, and nothing is remembered between two of them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "mcp/resources.h"
#include "mcp/tool.h"

namespace kforge::mcp {

// The versions that are spoken: the newer era's, and those with a handshake, newest first.
inline constexpr const char* kModernVersion = "2026-07-28";
inline constexpr const char* kLegacyVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
inline constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";  // of params._meta
Json supported_versions();

// Where what is said about one message goes. Both may be called from any thread.
struct Outlet {
  std::function<void(std::string)> send;  // one message to the client
  std::function<void()> ended = [] {};    // nothing more comes about this one
};

// How many calls run at once, counted over all servers that share it.
class CallSlots {
 public:
  explicit CallSlots(std::size_t most) : most_(most) {}
  bool take();  // false: none is free
  void give_back() { --taken_; }
  std::size_t most() const { return most_; }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> taken_{0};
};

// One client: ids of messages are its own.
class Server {
 public:
  // Tools and slots outlive it.
  Server(const std::vector<Tool>& tools, Resources resources, CallSlots& slots);
  // Cancels calls that still run, and waits for them.
  ~Server();

  // One message as text, or already read. Calls of tools go on in threads of their own; everything else is
  // answered at once. From any thread.
  void receive(std::string_view line, const Outlet& outlet);
  void receive(const RpcMessage& message, const Outlet& outlet);

  // Stops the call with this id, which is not answered then; nothing where there is none.
  void cancel(const Json& id);
  void cancel_all();
  bool has_calls();

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
  // True: the call has begun, and ends the exchange itself. Else it was answered why not.
  bool call_tool(const RpcMessage& message, bool modern, const Outlet& outlet);
  void run_call(const Tool& tool, const RpcMessage& message, bool modern, const Outlet& outlet,
                const std::stop_token& stop);
  void forget_ended_calls();

  const std::vector<Tool>& tools_;
  Resources resources_;
  CallSlots& slots_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Call>> calls_;  // by the id's text
};

}  // namespace kforge::mcp
