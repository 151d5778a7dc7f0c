// How KForge's own machinery fails: disk, network, driver, bad user input. A failing candidate is not an
// error but a value (base/failure.h); a bug in KForge is a KF_CHECK.
#pragma once

#include <fmt/core.h>

#include <cstdlib>
#include <expected>
#include <string>
#include <utility>

namespace kforge {

// One sentence that names the thing that failed, and what the user can do about it.
struct Error {
  std::string message;
  std::string remedy;  // may be empty

  std::string text() const { return remedy.empty() ? message : message + "\n  " + remedy; }
};

template <class T = void>
using Result = std::expected<T, Error>;

// fail("cannot read {}: {}", path, why): an Error without a remedy.
template <class... Args>
std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), {}});
}

// fail_with_remedy("install bubblewrap", "no sandbox on this machine").
inline std::unexpected<Error> fail_with_remedy(std::string remedy, std::string message) {
  return std::unexpected(Error{std::move(message), std::move(remedy)});
}

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition,
                                      const std::string& message) {
  fmt::print(stderr,
             "kforge: internal error at {}:{}: {} ({})\n  this is a bug in KForge; please report it\n", file,
             line, message, condition);
  std::abort();
}

}  // namespace kforge

#define KF_CONCAT_INNER(a, b) a##b
#define KF_CONCAT(a, b) KF_CONCAT_INNER(a, b)

// KF_TRY(auto x, f()): leaves the function with f's error, else x is its value.
#define KF_TRY(declaration, expression)                                                            \
  auto KF_CONCAT(kf_try_, __LINE__) = (expression);                                                \
  if (!KF_CONCAT(kf_try_, __LINE__)) return std::unexpected(KF_CONCAT(kf_try_, __LINE__).error()); \
  declaration = std::move(*KF_CONCAT(kf_try_, __LINE__))

// KF_TRY_VOID(f()): the same for Result<void>.
#define KF_TRY_VOID(expression) \
  if (auto kf_try_void = (expression); !kf_try_void) return std::unexpected(kf_try_void.error())

// A condition that only a bug in KForge can break. No user input may reach a failing one.
#define KF_CHECK(condition, ...) \
  if (!(condition)) ::kforge::check_failed(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__))
