#include "mcp/server.h"

#include <condition_variable>

#include "base/clock.h"
#include "mcp/prompts.h"

namespace kforge::mcp {
namespace {

constexpr const char* kModern = "2026-07-28";
constexpr const char* kLegacy[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};  // newest first
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kInstructions =
    "KForge judges compute kernels: it builds them in a sandbox, verifies that they compute what a reference "
    "program "
    "computes, and times them fairly against libraries. To write a kernel: kernel_contract, write it, "
    "evaluate_kernel, "
    "read what failed or how fast it was, and again. To let KForge search by itself: start_forge, then "
    "job_status.";
constexpr std::chrono::seconds kProgressPause{2};
constexpr int kListMilliseconds = 3'600'000;  // how long a list stays true

Json server_info() { return {{"name", "kforge"}, {"title", "KForge"}, {"version", KFORGE_VERSION}}; }
Json capabilities() {
  return {{"tools", {{"listChanged", false}}}, {"resources", Json::object()}, {"prompts", Json::object()}};
}

Json supported_versions() {
  Json list = Json::array({kModern});
  for (const char* version : kLegacy) list.push_back(version);
  return list;
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
  if (version != kModern)
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

// Tells the client every few seconds that the call goes on, until it has ended.
class Heartbeat {
 public:
  Heartbeat(const Json& params, std::string what, const std::function<void(std::string)>& send) {
    const Json* meta = meta_of(params);
    if (!meta || !meta->contains("progressToken")) return;
    thread_ = std::jthread([this, token = (*meta)["progressToken"], what = std::move(what),
                            send](const std::stop_token& stop) {
      const auto begin = std::chrono::steady_clock::now();
      std::mutex mutex;
      std::unique_lock lock(mutex);
      while (!wake_.wait_for(lock, stop, kProgressPause, [] { return false; }) && !stop.stop_requested()) {
        const double seconds = seconds_since(begin);
        send(notification_line("notifications/progress",
                               {{"progressToken", token},
                                {"progress", seconds},
                                {"message", fmt::format("{}: {:.0f} s", what, seconds)}}));
      }
    });
  }

 private:
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace

Server::Server(std::vector<Tool> tools, Resources resources, std::function<void(std::string)> send)
    : tools_(std::move(tools)), resources_(std::move(resources)), send_(std::move(send)) {}

Server::~Server() {
  for (auto& [id, call] : calls_) call->thread.request_stop();
}

void Server::receive(std::string_view line) {
  forget_ended_calls();
  auto message = read_message(line);
  if (!message) return send_(error_line(message.error().id, message.error().error));
  if (!*message) return;
  const RpcMessage& m = **message;
  if (!m.is_request()) {
    if (m.method == "notifications/cancelled") cancel(m.params);
    return;
  }
  const auto modern = is_modern(m.params);
  if (!modern) return send_(error_line(m.id, modern.error()));
  if (m.method == "tools/call") return call_tool(m, *modern);
  const auto result = answer(m, *modern);
  send_(result ? result_line(m.id, *result) : error_line(m.id, result.error()));
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
  std::string version = kLegacy[0];
  for (const char* known : kLegacy)
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

void Server::call_tool(const RpcMessage& message, bool modern) {
  const Json name = message.params.value("name", Json());
  const auto tool = std::ranges::find_if(tools_, [&](const Tool& one) { return name == one.name; });
  if (tool == tools_.end()) return send_(error_line(message.id, invalid("there is no tool " + name.dump())));
  const Json arguments = message.params.value("arguments", Json::object());
  if (!arguments.is_object())
    return send_(error_line(message.id, invalid("\"arguments\" must be an object")));
  auto refuse = [&](std::string why) {
    send_(result_line(message.id, of_era(content_of(tool_failure(std::move(why))), modern, false)));
  };
  if (auto wrong = wrong_arguments(tool->input_schema, arguments); !wrong.empty()) return refuse(wrong);
  const std::string id = message.id.dump();
  if (calls_.contains(id))
    return send_(
        error_line(message.id, {RpcError::kInvalidRequest, "a call with this id is running", nullptr}));
  if (calls_.size() >= kMostCalls)
    return refuse(
        fmt::format("{} calls are running, the most there may be: wait for one of them", kMostCalls));
  auto call = std::make_unique<Call>();
  Call* one = call.get();
  calls_[id] = std::move(call);
  one->thread = std::jthread([this, one, tool, message, modern](const std::stop_token& stop) {
    run_call(*tool, message, modern, stop);
    one->done = true;
  });
}

void Server::run_call(const Tool& tool, const RpcMessage& message, bool modern, const std::stop_token& stop) {
  ToolResult result;
  {
    Heartbeat heartbeat(message.params, tool.title, send_);
    // What a document of another process lacks is told by an exception of the JSON library; it ends the call,
    // not the server.
    try {
      result = tool.call({message.params.value("arguments", Json::object()), stop});
    } catch (const std::exception& problem) {
      result = tool_failure(fmt::format("the call failed within the server: {}", problem.what()));
    }
  }
  if (stop.stop_requested()) return;  // nobody waits for the answer
  send_(result_line(message.id, of_era(content_of(result), modern, false)));
}

void Server::cancel(const Json& params) {
  if (auto call = calls_.find(params.value("requestId", Json()).dump()); call != calls_.end())
    call->second->thread.request_stop();
}

void Server::forget_ended_calls() {
  std::erase_if(calls_, [](const auto& entry) { return entry.second->done.load(); });
}

}  // namespace kforge::mcp
