#include "base/hash.h"

#include <openssl/evp.h>

#include <cstdint>

#include "base/result.h"

namespace kforge {
namespace {

EVP_MD_CTX* evp(void* context) { return static_cast<EVP_MD_CTX*>(context); }

std::string finish(EVP_MD_CTX* context) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context, digest, &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace

Hasher::Hasher() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(evp(context_), EVP_sha256(), nullptr); }
Hasher::~Hasher() { EVP_MD_CTX_free(evp(context_)); }

Hasher& Hasher::add(std::string_view piece) {
  std::uint64_t size = piece.size();
  EVP_DigestUpdate(evp(context_), &size, sizeof size);
  EVP_DigestUpdate(evp(context_), piece.data(), piece.size());
  return *this;
}

std::string Hasher::hex() { return finish(evp(context_)); }

std::string sha256_hex(std::string_view content) {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
  EVP_DigestUpdate(context, content.data(), content.size());
  std::string hex = finish(context);
  EVP_MD_CTX_free(context);
  return hex;
}

}  // namespace kforge
