#include "llm/text_safety.h"

#include <openssl/evp.h>

#include "base/secrets.h"

namespace kforge {

std::string safe_line(std::string_view text, std::size_t limit) {
  // A key must not escape by being cut in half: mask first, then cut.
  std::string line = without_secrets(valid_utf8(text.substr(0, 64 << 10)));
  for (char& letter : line)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = ' ';
  if (line.size() <= limit) return line;
  while (limit > 0 && (static_cast<unsigned char>(line[limit]) & 0xC0) == 0x80) --limit;
  return line.substr(0, limit) + "...";
}

std::string without_thinking(std::string text) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  std::size_t start = text.find_first_not_of(" \t\r\n");
  std::size_t close = text.find(kClose);
  if (start == std::string::npos || close == std::string::npos) return text;
  // A lone closing tag counts only where no code came before it: a kernel may well quote the word.
  bool opened = text.compare(start, kOpen.size(), kOpen) == 0;
  if (!opened && text.substr(0, close).find("```") != std::string::npos) return text;
  std::size_t after = text.find_first_not_of(" \t\r\n", close + kClose.size());
  return after == std::string::npos ? "" : text.substr(after);
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::int64_t estimated_tokens(std::size_t characters) {
  return static_cast<std::int64_t>((characters + 3) / 4);
}

}  // namespace kforge
