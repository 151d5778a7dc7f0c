// A request as handlers see it and what they answer: nothing of HTTP's bytes, so that a handler is a function
// that tests call directly.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kforge::serve {

struct Asked {
  std::string method;                          // "GET" also for HEAD
  std::string path;                            // decoded, begins with '/', without ".json"
  bool json = false;                           // the address ended with ".json": the twin of the page
  std::map<std::string, std::string> query;    // of the address; of a name given twice the first
  std::map<std::string, std::string> fields;   // of a form
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // of anything but a form
  std::vector<std::string> parts;              // what the stars of the route stood for
  bool read_only = false;                      // nothing is started or stopped from here
  bool knows_token = false;                    // may change things, unless the server is read-only
  std::string csrf;  // what a form must send back; empty for whoever does not know the token

  // "" where there is none.
  std::string header(const std::string& lower_case_name) const { return found(headers, lower_case_name); }
  std::string asked(const std::string& name) const { return found(query, name); }
  std::string field(const std::string& name) const { return found(fields, name); }

 private:
  static std::string found(const std::map<std::string, std::string>& map, const std::string& name) {
    const auto at = map.find(name);
    return at == map.end() ? std::string() : at->second;
  }
};

// Where an answer without an end is written to.
class Sink {
 public:
  virtual ~Sink() = default;
  // False: nobody reads any more, or the server ends.
  virtual bool write(std::string_view text) = 0;
  virtual bool open() const = 0;
};

struct Answer {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Instead of a body: returns when there is no more to say, or when `stop` is asked for.
  std::function<void(Sink&, const std::stop_token& stop)> stream = {};
};

}  // namespace kforge::serve
