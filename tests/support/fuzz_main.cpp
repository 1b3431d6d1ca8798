// SPDX-License-Identifier: Apache-2.0
// Runs a libFuzzer target without libFuzzer, so that the fuzz tests are part of every test run: first each file of the
// corpus, then mutations of them, the same ones on every machine. No coverage feedback: the preset `fuzz` has that.
//
//   x_fuzz [-runs=N] [-seed=N] <corpus folder or file>...
//
// A crash leaves the input that caused it in ./crash-input.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "core/rng.hpp"
#include "core/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMaxSize = 4096;

const Bytes* running = nullptr;

void save_input_and_die(int signal_number) {
  if (running != nullptr) {
    const int file = ::open("crash-input", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (file >= 0 && ::write(file, running->data(), running->size()) >= 0) {
      constexpr std::string_view kSaid = "the input is in ./crash-input\n";
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
    }
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void run(const Bytes& input) {
  running = &input;
  // A copy of the very size, so that the address sanitizer sees a read past the end.
  const Bytes exact(input);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  running = nullptr;
}

/// Random whole numbers of one mutated input.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t input) : rng_(seed, "fuzz"), input_(input) {}
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(rng_.uniform(input_, throw_++) * static_cast<double>(limit)); }

 private:
  pitwall::Rng rng_;
  std::uint64_t input_;
  std::uint32_t throw_ = 0;
};

void insert_at(Bytes& bytes, std::size_t at, const std::uint8_t* from, std::size_t count) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), from, from + count);
}

void mutate(Bytes& bytes, const std::vector<Bytes>& corpus, Dice& dice) {
  static constexpr std::array<std::uint8_t, 12> kBytes = {0, 1, 0x7F, 0x80, 0xFF, '0', '9', '-', '\n', ' ', '"', ':'};
  static constexpr std::array<std::string_view, 12> kWords = {
      "-1", "0", "1e999", "nan", ".inf", "18446744073709551616", "2147483648", "0x7fffffff", "\r\n", "\xef\xbb\xbf", ",,", "# "};
  const std::size_t at = dice.below(bytes.size() + 1);
  const bool inside = at < bytes.size();
  const std::size_t rest = bytes.size() - at;
  switch (dice.below(9)) {
    case 0:
      if (inside) bytes[at] ^= static_cast<std::uint8_t>(1U << dice.below(8));
      break;
    case 1:
      if (inside) bytes[at] = static_cast<std::uint8_t>(dice.below(256));
      break;
    case 2:
      if (inside) bytes[at] = kBytes[dice.below(kBytes.size())];
      break;
    case 3: {
      const std::uint8_t byte = kBytes[dice.below(kBytes.size())];
      insert_at(bytes, at, &byte, 1);
      break;
    }
    case 4: {  // drop a piece
      const std::size_t count = std::min(rest, 1 + dice.below(16));
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
      break;
    }
    case 5: {  // repeat a piece
      const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(at + std::min(rest, 1 + dice.below(32))));
      for (std::size_t k = 1 + dice.below(4); k > 0; --k) insert_at(bytes, at, piece.data(), piece.size());
      break;
    }
    case 6: {  // a piece of another input
      const Bytes& other = corpus[dice.below(corpus.size())];
      const std::size_t from = dice.below(other.size() + 1);
      const std::size_t count = std::min(other.size() - from, dice.below(64));
      insert_at(bytes, at, other.data() + from, count);
      break;
    }
    case 7: {
      const std::string_view word = kWords[dice.below(kWords.size())];
      const Bytes piece(word.begin(), word.end());
      insert_at(bytes, at, piece.data(), piece.size());
      break;
    }
    default:  // cut off
      if (dice.below(4) == 0) bytes.resize(at);
      break;
  }
  if (bytes.size() > kMaxSize) bytes.resize(kMaxSize);
}

bool read_corpus(const std::filesystem::path& path, std::vector<Bytes>& corpus) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());  // the order of a folder is the machine's
  } else {
    files.push_back(path);
  }
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "%s: cannot read\n", file.c_str());
      return false;
    }
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 0;
  std::uint64_t seed = 1;
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-runs=")) {
      runs = static_cast<std::uint64_t>(pitwall::parse_int(argument.substr(6)).value_or(0));
    } else if (argument.starts_with("-seed=")) {
      seed = static_cast<std::uint64_t>(pitwall::parse_int(argument.substr(6)).value_or(1));
    } else if (!argument.starts_with("-") && !read_corpus(argument, corpus)) {
      return 2;
    }
  }
  for (const int signal_number : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal_number, save_input_and_die);
  if (corpus.empty()) corpus.emplace_back();
  for (const Bytes& input : corpus) run(input);
  for (std::uint64_t i = 0; i < runs; ++i) {
    Dice dice(seed, i);
    Bytes input = corpus[dice.below(corpus.size())];
    for (std::size_t k = 1 + dice.below(6); k > 0; --k) mutate(input, corpus, dice);
    run(input);
  }
  std::printf("%zu corpus inputs and %llu mutations: no crash\n", corpus.size(), static_cast<unsigned long long>(runs));
  return 0;
}
