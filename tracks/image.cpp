// SPDX-License-Identifier: Apache-2.0
#include "tracks/image.hpp"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <optional>

#include "core/check.hpp"
#include "core/files.hpp"

namespace pitwall::tracks {
namespace {

constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 28;
// The most that deflate can shrink a run of equal bytes; what claims to be larger than that is cut or forged, and is
// refused before memory is taken for it.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

Error size_error(const std::string& name, std::uint64_t width, std::uint64_t height) {
  return Error{name + ": " + std::to_string(width) + " x " + std::to_string(height) + " pixels: must be 1 .. 2^28 pixels"};
}

bool size_allowed(std::uint64_t width, std::uint64_t height) {
  return width > 0 && height > 0 && width <= kMaxPixels && height <= kMaxPixels && width * height <= kMaxPixels;
}

// --- PGM ---------------------------------------------------------------------------------------------------------

class PgmReader {
 public:
  explicit PgmReader(std::string_view bytes) : bytes_(bytes), at_(2) {}

  /// The next unsigned number after blanks and comments ('#' to the end of the line).
  std::optional<std::uint64_t> number() {
    skip_blanks();
    std::uint64_t value = 0;
    const std::size_t first = at_;
    while (at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(bytes_[at_] - '0');
      if (value > 0xffffffffULL) return std::nullopt;
      ++at_;
    }
    if (at_ == first) return std::nullopt;
    return value;
  }
  /// The pixels of P5 start after exactly one blank.
  bool skip_one_blank() { return at_ < bytes_.size() && is_blank(bytes_[at_++]); }
  [[nodiscard]] std::string_view rest() const { return bytes_.substr(at_); }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
  void skip_blanks() {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n' && bytes_[at_] != '\r') ++at_;
      } else if (is_blank(bytes_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view bytes_;
  std::size_t at_;
};

Result<Image> decode_pgm(std::string_view bytes, const std::string& name) {
  const bool plain = bytes[1] == '2';
  PgmReader reader(bytes);
  const auto width = reader.number();
  const auto height = reader.number();
  const auto full = reader.number();
  if (!width || !height || !full) return Error{name + ": damaged PGM header: needs width, height and maxval"};
  if (!size_allowed(*width, *height)) return size_error(name, *width, *height);
  if (*full < 1 || *full > 65535) return Error{name + ": PGM maxval " + std::to_string(*full) + ": must be 1 .. 65535"};
  if (!plain && !reader.skip_one_blank()) return Error{name + ": PGM is cut off after its header"};

  const std::uint64_t pixels = *width * *height;
  const std::uint64_t bytes_per_pixel = plain ? 2 : (*full > 255 ? 2 : 1);
  // A plain pixel takes a digit and a blank, the last one the digit alone.
  const std::uint64_t needed = pixels * bytes_per_pixel - (plain ? 1 : 0);
  const std::string_view data = reader.rest();
  if (data.size() < needed) {
    return Error{name + ": PGM is cut off: " + std::to_string(*width) + " x " + std::to_string(*height) + " pixels need " +
                 std::to_string(needed) + " bytes, " + std::to_string(data.size()) + " are there"};
  }
  Image image;
  image.width = static_cast<int>(*width);
  image.height = static_cast<int>(*height);
  image.full = static_cast<std::uint32_t>(*full);
  image.light.resize(pixels);
  for (std::uint64_t i = 0; i < pixels; ++i) {
    std::uint32_t value = 0;
    if (plain) {
      const auto read = reader.number();
      if (!read) return Error{name + ": pixel " + std::to_string(i) + " of " + std::to_string(pixels) + " is missing or no number"};
      value = static_cast<std::uint32_t>(*read);
    } else if (bytes_per_pixel == 2) {
      value = static_cast<std::uint32_t>(static_cast<unsigned char>(data[2 * i])) * 256U + static_cast<unsigned char>(data[2 * i + 1]);
    } else {
      value = static_cast<unsigned char>(data[i]);
    }
    if (value > image.full) {
      return Error{name + ": pixel " + std::to_string(i) + " = " + std::to_string(value) + ": above maxval " + std::to_string(*full)};
    }
    image.light[i] = value;
  }
  return image;
}

// --- PNG ---------------------------------------------------------------------------------------------------------

/// What libpng's callbacks share, and everything the decoder owns: nothing with a destructor may live between setjmp
/// and longjmp, so it all lives here.
struct PngState {
  std::string_view bytes;
  std::size_t at = 0;
  std::string trouble;
  std::vector<png_byte> pixels;
  std::vector<png_bytep> rows;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::size_t row_bytes = 0;
  int channels = 0;
  int depth = 0;
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<PngState*>(png_get_error_ptr(png));
  if (state->trouble.empty()) state->trouble = message;
  std::longjmp(*png_set_longjmp_fn(png, std::longjmp, sizeof(std::jmp_buf)), 1);
}

void on_png_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep to, png_size_t count) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (count > state->bytes.size() - state->at) png_error(png, "it is cut off");
  std::memcpy(to, state->bytes.data() + state->at, count);
  state->at += count;
}

/// Runs libpng over the file; false with state.trouble set where it complains. No local here needs a destructor.
bool read_png(png_structp png, png_infop info, PngState& state) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_read_fn(png, &state, read_png_bytes);
  png_read_info(png, info);
  state.width = png_get_image_width(png, info);
  state.height = png_get_image_height(png, info);
  if (!size_allowed(state.width, state.height)) png_error(png, "size");
  const std::uint64_t packed = state.height * (1 + png_get_rowbytes(png, info));
  if (packed / kMaxDeflateRatio > state.bytes.size()) png_error(png, "it is cut off");
  png_set_expand(png);  // palette to RGB, 1, 2, 4 bits to 8, transparent colours to alpha; 16 bits stay
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  state.row_bytes = png_get_rowbytes(png, info);
  state.channels = png_get_channels(png, info);
  state.depth = png_get_bit_depth(png, info);
  state.pixels.resize(state.height * state.row_bytes);
  state.rows.resize(state.height);
  for (std::size_t r = 0; r < state.height; ++r) state.rows[r] = &state.pixels[r * state.row_bytes];
  png_read_image(png, state.rows.data());
  png_read_end(png, nullptr);
  return true;
}

Image from_png_pixels(const PngState& state) {
  Image image;
  image.width = static_cast<int>(state.width);
  image.height = static_cast<int>(state.height);
  const bool has_alpha = state.channels == 2 || state.channels == 4;
  const int colours = state.channels - (has_alpha ? 1 : 0);
  const std::uint32_t channel_full = state.depth == 16 ? 65535 : 255;
  const int step = state.depth == 16 ? 2 : 1;
  image.full = channel_full * static_cast<std::uint32_t>(colours);
  image.light.reserve(state.width * state.height);
  if (has_alpha) image.opaque.reserve(state.width * state.height);
  for (std::size_t r = 0; r < state.height; ++r) {
    const png_byte* at = &state.pixels[r * state.row_bytes];
    const auto next = [&at, step] {
      const std::uint32_t value = step == 2 ? at[0] * 256U + at[1] : at[0];
      at += step;
      return value;
    };
    for (std::size_t c = 0; c < state.width; ++c) {
      std::uint32_t sum = 0;
      for (int k = 0; k < colours; ++k) sum += next();
      image.light.push_back(sum);
      if (has_alpha) image.opaque.push_back(next() == channel_full ? 1 : 0);
    }
  }
  return image;
}

Result<Image> decode_png(std::string_view bytes, const std::string& name) {
  PngState state;
  state.bytes = bytes;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_png_error, on_png_warning);
  PITWALL_CHECK(png != nullptr, "libpng does not match its headers");
  png_infop info = png_create_info_struct(png);
  const bool read = info != nullptr && read_png(png, info, state);
  png_destroy_read_struct(&png, &info, nullptr);
  if (!read) {
    if (state.trouble == "size") return size_error(name, state.width, state.height);
    return Error{name + ": damaged PNG: " + state.trouble};
  }
  return from_png_pixels(state);
}

}  // namespace

Result<Image> decode_image(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("P2") || bytes.starts_with("P5")) return decode_pgm(bytes, name);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(bytes, name);
  if (bytes.empty()) return Error{name + ": empty file, expected a picture (PGM or PNG)"};
  return Error{name + ": neither PGM (P2, P5) nor PNG"};
}

Result<Image> load_image(const std::filesystem::path& file) {
  const Result<std::string> bytes = read_file(file);
  if (!bytes) return bytes.error();
  return decode_image(*bytes, file.string());
}

std::string encode_pgm(int width, int height, const std::vector<std::uint8_t>& grey) {
  PITWALL_CHECK(width > 0 && height > 0 && grey.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height), width, height,
                grey.size());
  std::string bytes = "P5\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  for (const std::uint8_t value : grey) bytes.push_back(static_cast<char>(value));
  return bytes;
}

}  // namespace pitwall::tracks
