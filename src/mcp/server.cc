#include "mcp/server.h"

#include <condition_variable>

#include "base/clock.h"
#include "mcp/prompts.h"

namespace kforge::mcp {
namespace {

constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kInstructions =
    "KForge judges compute kernels: it builds them in a sandbox, verifies that they compute what a reference "
    "program "
    "computes, and times them fairly against libraries. To write a kernel: kernel_contract, start_session, "
    "write it, evaluate_kernel with the session, read what failed or how fast it was, and again; stop_job "
    "confirms the best. For a single verdict evaluate_kernel alone. To let KForge search by itself: "
    "start_forge, then job_status.";
constexpr std::chrono::seconds kProgressPause{2};
constexpr std::chrono::milliseconds kShortestPause{300};
constexpr int kListMilliseconds = 3'600'000;  // how long a list stays true

Json server_info() { return {{"name", "kforge"}, {"title", "KForge"}, {"version", KFORGE_VERSION}}; }
Json capabilities() {
  return {{"tools", {{"listChanged", false}}}, {"resources", Json::object()}, {"prompts", Json::object()}};
}

RpcError invalid(std::string message) { return {RpcError::kInvalidParams, std::move(message), nullptr}; }

const Json* meta_of(const Json& params) {
  const auto meta = params.find("_meta");
  return meta != params.end() && meta->is_object() ? &*meta : nullptr;
}

// Whether the request is of the newer era; what is wrong with it if it is.
std::expected<bool, RpcError> is_modern(const Json& params) {
  const Json* meta = meta_of(params);
  if (!meta || !meta->contains(kVersionKey)) return false;
  const Json& version = (*meta)[kVersionKey];
  if (version != kModernVersion)
    return std::unexpected(RpcError{RpcError::kUnsupportedVersion,
                                    "this version of the protocol is not supported",
                                    Json{{"supported", supported_versions()}, {"requested", version}}});
  if (!meta->contains(kCapabilitiesKey) || !(*meta)[kCapabilitiesKey].is_object())
    return std::unexpected(invalid(std::string("params._meta must have ") + kCapabilitiesKey));
  return true;
}

// Results of the newer era say that they are whole, and lists for how long they hold.
Json of_era(Json result, bool modern, bool is_list) {
  if (!modern) return result;
  Json marked = {{"resultType", "complete"}};
  marked.update(result);
  if (is_list) marked.update(Json{{"ttlMs", kListMilliseconds}, {"cacheScope", "public"}});
  return marked;
}

Json content_of(const ToolResult& result) {
  Json content = Json::array();
  const std::string text = result.text.empty()
                               ? result.structured.dump(1, ' ', false, Json::error_handler_t::replace)
                               : result.text;
  content.push_back({{"type", "text"}, {"text", text}});
  for (const ResourceLink& link : result.links)
    content.push_back(
        {{"type", "resource_link"}, {"uri", link.uri}, {"name", link.name}, {"mimeType", link.mime_type}});
  Json answer = {{"content", content}, {"isError", result.failed}};
  if (!result.failed) answer["structuredContent"] = result.structured;
  return answer;
}

// Tells the client what is being done, when that changes and every few seconds, until the call has ended.
class Heartbeat {
 public:
  Heartbeat(const Json& params, std::string what, const Outlet& outlet) : doing_(std::move(what)) {
    const Json* meta = meta_of(params);
    if (!meta || !meta->contains("progressToken")) return;
    thread_ = std::jthread([this, token = (*meta)["progressToken"], outlet](const std::stop_token& stop) {
      beat(token, outlet, stop);
    });
  }

  void say(std::string_view what) {
    what = what.substr(0, kLongestStage);
    std::lock_guard lock(mutex_);
    if (doing_ == what) return;
    doing_ = what;
    changed_ = true;
    wake_.notify_all();
  }

 private:
  void beat(const Json& token, const Outlet& outlet, const std::stop_token& stop) {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait_for(lock, stop, kProgressPause, [this] { return changed_; });
      if (stop.stop_requested()) return;
      changed_ = false;
      const double seconds = seconds_since(begin);
      const std::string doing = doing_;
      lock.unlock();  // a client that reads slowly does not hold up the call
      outlet.send(notification_line("notifications/progress",
                                    {{"progressToken", token},
                                     {"progress", seconds},
                                     {"message", fmt::format("{} ({:.0f} s)", doing, seconds)}}));
      lock.lock();
      // A stage may be short: clients get no more than a few messages a second.
      wake_.wait_for(lock, stop, kShortestPause, [] { return false; });
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::string doing_;
  bool changed_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace

Json supported_versions() {
  Json list = Json::array({kModernVersion});
  for (const char* version : kLegacyVersions) list.push_back(version);
  return list;
}

bool CallSlots::take() {
  for (std::size_t taken = taken_; taken < most_;)
    if (taken_.compare_exchange_weak(taken, taken + 1)) return true;
  return false;
}

Server::Server(const std::vector<Tool>& tools, Resources resources, CallSlots& slots)
    : tools_(tools), resources_(std::move(resources)), slots_(slots) {}

Server::~Server() { cancel_all(); }

void Server::receive(std::string_view line, const Outlet& outlet) {
  auto message = read_message(line);
  if (message && *message) return receive(**message, outlet);
  if (!message) outlet.send(error_line(message.error().id, message.error().error));
  outlet.ended();
}

void Server::receive(const RpcMessage& message, const Outlet& outlet) {
  forget_ended_calls();
  const auto modern = is_modern(message.params);
  if (!message.is_request()) {
    if (message.method == "notifications/cancelled") cancel(message.params.value("requestId", Json()));
  } else if (!modern) {
    outlet.send(error_line(message.id, modern.error()));
  } else if (message.method == "tools/call") {
    if (call_tool(message, *modern, outlet)) return;
  } else {
    const auto result = answer(message, *modern);
    outlet.send(result ? result_line(message.id, *result) : error_line(message.id, result.error()));
  }
  outlet.ended();
}

Server::Answer Server::answer(const RpcMessage& message, bool modern) {
  const std::string& method = message.method;
  if (method == "initialize") return initialize(message.params);
  if (method == "ping" && !modern) return Json::object();
  if (method == "server/discover") return of_era(discover(), true, true);
  if (method == "tools/list") return of_era(tool_list(), modern, true);
  if (method == "prompts/list") return of_era({{"prompts", prompt_list()}}, modern, true);
  if (method == "prompts/get") {
    auto got = prompt(message.params);
    if (!got) return got;
    return of_era(std::move(*got), modern, false);
  }
  if (method == "resources/list") return of_era({{"resources", resources_.list()}}, modern, true);
  if (method == "resources/templates/list")
    return of_era({{"resourceTemplates", Resources::templates()}}, modern, true);
  if (method == "resources/read") {
    const Json uri = message.params.value("uri", Json());
    if (!uri.is_string()) return std::unexpected(invalid("\"uri\" must be a string"));
    auto contents = resources_.read(uri.get<std::string>());
    if (!contents) return std::unexpected(invalid(contents.error().text()));
    return of_era({{"contents", *contents}}, modern, true);
  }
  return std::unexpected(RpcError{RpcError::kUnknownMethod, "there is no method " + method, nullptr});
}

Server::Answer Server::initialize(const Json& params) {
  const Json requested = params.value("protocolVersion", Json());
  if (!requested.is_string()) return std::unexpected(invalid("\"protocolVersion\" must be a string"));
  std::string version = kLegacyVersions[0];
  for (const char* known : kLegacyVersions)
    if (requested == known) version = known;
  return Json{{"protocolVersion", version},
              {"capabilities", capabilities()},
              {"serverInfo", server_info()},
              {"instructions", kInstructions}};
}

Json Server::discover() const {
  return {{"supportedVersions", supported_versions()},
          {"capabilities", capabilities()},
          {"instructions", kInstructions},
          {"_meta", {{"io.modelcontextprotocol/serverInfo", server_info()}}}};
}

Json Server::tool_list() const {
  Json list = Json::array();
  for (const Tool& tool : tools_) {
    Json one = {{"name", tool.name},
                {"title", tool.title},
                {"description", tool.description},
                {"inputSchema", tool.input_schema},
                {"annotations",
                 {{"title", tool.title},
                  {"readOnlyHint", tool.read_only},
                  {"destructiveHint", tool.destructive},
                  {"idempotentHint", tool.idempotent},
                  {"openWorldHint", false}}}};
    if (!tool.output_schema.is_null()) one["outputSchema"] = tool.output_schema;
    list.push_back(std::move(one));
  }
  return {{"tools", list}};
}

Server::Answer Server::prompt(const Json& params) const {
  auto text = prompt_text(params.value("name", Json()), params.value("arguments", Json::object()));
  if (!text) return std::unexpected(invalid(text.error().text()));
  return Json{
      {"messages", Json::array({{{"role", "user"}, {"content", {{"type", "text"}, {"text", *text}}}}})}};
}

bool Server::call_tool(const RpcMessage& message, bool modern, const Outlet& outlet) {
  auto wrong = [&](RpcError error) {
    outlet.send(error_line(message.id, error));
    return false;
  };
  // What the assistant can mend is told to it, not to the host.
  auto refuse = [&](std::string why) {
    outlet.send(result_line(message.id, of_era(content_of(tool_failure(std::move(why))), modern, false)));
    return false;
  };
  const Json name = message.params.value("name", Json());
  const auto tool = std::ranges::find_if(tools_, [&](const Tool& one) { return name == one.name; });
  if (tool == tools_.end()) return wrong(invalid("there is no tool " + name.dump()));
  const Json arguments = message.params.value("arguments", Json::object());
  if (!arguments.is_object()) return wrong(invalid("\"arguments\" must be an object"));
  if (auto fault = wrong_arguments(tool->input_schema, arguments); !fault.empty()) return refuse(fault);

  std::lock_guard lock(mutex_);
  const std::string id = message.id.dump();
  if (calls_.contains(id))
    return wrong({RpcError::kInvalidRequest, "a call with this id is running", nullptr});
  if (!slots_.take())
    return refuse(
        fmt::format("{} calls are running, the most there may be: wait for one of them", slots_.most()));
  auto call = std::make_unique<Call>();
  Call* one = call.get();
  calls_[id] = std::move(call);
  one->thread = std::jthread([this, one, tool, message, modern, outlet](const std::stop_token& stop) {
    run_call(*tool, message, modern, outlet, stop);
    slots_.give_back();
    outlet.ended();
    one->done = true;
  });
  return true;
}

void Server::run_call(const Tool& tool, const RpcMessage& message, bool modern, const Outlet& outlet,
                      const std::stop_token& stop) {
  ToolResult result;
  {
    Heartbeat heartbeat(message.params, tool.title, outlet);
    // What a document of another process lacks is told by an exception of the JSON library; it ends the call,
    // not the server.
    try {
      result = tool.call({message.params.value("arguments", Json::object()), stop,
                          [&heartbeat](std::string_view doing) { heartbeat.say(doing); }});
    } catch (const std::exception& problem) {
      result = tool_failure(fmt::format("the call failed within the server: {}", problem.what()));
    }
  }
  if (stop.stop_requested()) return;  // nobody waits for the answer
  outlet.send(result_line(message.id, of_era(content_of(result), modern, false)));
}

void Server::cancel(const Json& id) {
  std::lock_guard lock(mutex_);
  if (auto call = calls_.find(id.dump()); call != calls_.end()) call->second->thread.request_stop();
}

void Server::cancel_all() {
  std::lock_guard lock(mutex_);
  for (auto& [id, call] : calls_) call->thread.request_stop();
}

bool Server::has_calls() {
  forget_ended_calls();
  std::lock_guard lock(mutex_);
  return !calls_.empty();
}

void Server::forget_ended_calls() {
  std::lock_guard lock(mutex_);
  std::erase_if(calls_, [](const auto& entry) { return entry.second->done.load(); });
}

}  // namespace kforge::mcp
