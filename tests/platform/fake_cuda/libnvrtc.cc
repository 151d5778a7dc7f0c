// NVRTC for tests: the files go to a folder, and the fake nvcc compiles them.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fs = std::filesystem;

struct NvrtcProgram {
  fs::path folder;
  std::string name, log, cubin;
};

namespace {

enum : int { kSuccess = 0, kInvalidInput = 3, kCompilation = 6 };
constexpr int kKnown[] = {70, 80, 90};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int run_nvcc(const NvrtcProgram& program, const std::string& architecture) {
  const std::string nvcc = std::string(::getenv("FAKE_CUDA_NVCC") ? ::getenv("FAKE_CUDA_NVCC") : "");
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(program.folder.c_str()) != 0 || !::freopen("log", "w", stderr)) ::_exit(3);
    ::execl(nvcc.c_str(), nvcc.c_str(), "-cubin", ("-arch=" + architecture).c_str(), "-I", ".", "-o", "cubin",
            program.name.c_str(), nullptr);
    ::_exit(4);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

int give(const std::string& text, char* to) { return std::memcpy(to, text.data(), text.size()), kSuccess; }

}  // namespace

extern "C" {

int nvrtcCreateProgram(NvrtcProgram** made, const char* source, const char* name, int count,
                       const char* const* headers, const char* const* names) {
  std::string folder = std::string(::getenv("TMPDIR") ? ::getenv("TMPDIR") : "/tmp") + "/nvrtc.XXXXXX";
  if (!::mkdtemp(folder.data())) return kInvalidInput;
  *made = new NvrtcProgram{folder, name, "", ""};
  std::ofstream(fs::path(folder) / name) << source;
  for (int i = 0; i < count; ++i) std::ofstream(fs::path(folder) / names[i]) << headers[i];
  return kSuccess;
}
int nvrtcCompileProgram(NvrtcProgram* program, int count, const char* const* options) {
  std::string architecture;
  for (int i = 0; i < count; ++i)
    if (const std::string word = options[i]; word.starts_with("--gpu-architecture="))
      architecture = word.substr(19);
  if (architecture != "sm_90") return kInvalidInput;
  const int status = run_nvcc(*program, architecture);
  program->log = content_of(program->folder / "log") + '\0';
  program->cubin = content_of(program->folder / "cubin");
  return status == 0 ? kSuccess : kCompilation;
}
int nvrtcGetProgramLogSize(NvrtcProgram* program, std::size_t* size) {
  return *size = program->log.size(), kSuccess;
}
int nvrtcGetProgramLog(NvrtcProgram* program, char* to) { return give(program->log, to); }
int nvrtcGetCUBINSize(NvrtcProgram* program, std::size_t* size) {
  return *size = program->cubin.size(), kSuccess;
}
int nvrtcGetCUBIN(NvrtcProgram* program, char* to) { return give(program->cubin, to); }
int nvrtcGetPTXSize(NvrtcProgram*, std::size_t* size) { return *size = 0, kSuccess; }
int nvrtcGetPTX(NvrtcProgram*, char*) { return kInvalidInput; }
int nvrtcGetNumSupportedArchs(int* count) { return *count = std::size(kKnown), kSuccess; }
int nvrtcGetSupportedArchs(int* to) { return std::memcpy(to, kKnown, sizeof kKnown), kSuccess; }
int nvrtcDestroyProgram(NvrtcProgram** program) {
  delete *program;
  *program = nullptr;
  return kSuccess;
}

}  // extern "C"
