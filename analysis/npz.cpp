// SPDX-License-Identifier: Apache-2.0
#include "analysis/npz.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/check.hpp"
#include "core/text.hpp"
#include "recording/bytes.hpp"
#include "recording/compression.hpp"

namespace pitwall::analysis {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::uint16_t kVersion = 20;           // of the format that is needed to read it
constexpr std::uint16_t kFirstOfJanuary = 0x21;  // 1980-01-01: equal arrays give equal files
constexpr std::string_view kMagic{"\x93NUMPY\x01\x00", 8};
constexpr std::string_view kSuffix = ".npy";

template <std::unsigned_integral T>
void append(std::string& out, T value) {
  for (std::size_t k = 0; k < sizeof(T); ++k) out.push_back(static_cast<char>(static_cast<std::uint8_t>(value >> (8 * k))));
}

template <std::unsigned_integral T>
T at(std::string_view bytes, std::size_t offset) {
  return recording::load_le<T>(reinterpret_cast<const std::uint8_t*>(bytes.data()) + offset);
}

/// Fields that both headers of an entry have: version to the length of the name.
void append_common(std::string& out, std::uint32_t crc, std::uint64_t size, std::string_view name) {
  append(out, kVersion);
  append(out, std::uint16_t{0});  // flags
  append(out, std::uint16_t{0});  // stored
  append(out, std::uint16_t{0});
  append(out, kFirstOfJanuary);
  append(out, crc);
  append(out, static_cast<std::uint32_t>(size));
  append(out, static_cast<std::uint32_t>(size));
  append(out, static_cast<std::uint16_t>(name.size()));
  append(out, std::uint16_t{0});  // extra field
}

std::string npy_header(std::string_view type, std::span<const std::size_t> shape) {
  std::string text = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (";
  for (const std::size_t size : shape) text += std::to_string(size) + ",";
  text += "), }";
  // Padded so that the values begin at a multiple of 64.
  const std::size_t before = kMagic.size() + 2;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  append(header, static_cast<std::uint16_t>(text.size()));
  return header + text;
}

template <class T>
std::string_view raw(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::size_t item_size(std::string_view type) { return type == "<f8" || type == "<i8" ? 8 : type == "<f4" ? 4 : type == "|u1" ? 1 : 0; }

Error broken(const std::string& what) { return Error{"not an .npz file that can be read: " + what}; }

/// What follows `'key':` in the header of an array, up to a comma or bracket outside the value.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t found = header.find("'" + std::string(key) + "'");
  if (found == std::string_view::npos) return {};
  const std::size_t colon = header.find(':', found);
  if (colon == std::string_view::npos) return {};
  std::string_view rest = trim(header.substr(colon + 1));
  if (rest.empty()) return {};
  const std::size_t end = rest.front() == '(' ? rest.find(')') : rest.find_first_of(",}");
  return end == std::string_view::npos ? std::string_view{} : trim(rest.substr(0, end + (rest.front() == '(' ? 1 : 0)));
}

}  // namespace

void NpzWriter::add_bytes(std::string_view name, std::string_view type, std::size_t item, std::string_view bytes,
                          std::span<const std::size_t> shape) {
  const std::size_t count = bytes.size() / item;
  std::size_t product = 1;
  for (const std::size_t size : shape) product *= size;
  PITWALL_CHECK(shape.empty() || product == count, std::string(name), product, count);
  const std::string header = npy_header(type, shape.empty() ? std::span<const std::size_t>(&count, 1) : shape);
  const std::uint32_t crc = recording::crc32(recording::as_bytes(bytes), recording::crc32(recording::as_bytes(header)));
  Entry entry{std::string(name) + std::string(kSuffix), crc, header.size() + bytes.size(), bytes_.size()};
  append(bytes_, kLocal);
  append_common(bytes_, entry.crc, entry.size, entry.name);
  bytes_ += entry.name;
  bytes_ += header;
  bytes_ += bytes;
  entries_.push_back(std::move(entry));
}

void NpzWriter::add(std::string_view name, std::span<const double> values, std::span<const std::size_t> shape) {
  add_bytes(name, "<f8", sizeof(double), raw(values), shape);
}
void NpzWriter::add(std::string_view name, std::span<const float> values, std::span<const std::size_t> shape) {
  add_bytes(name, "<f4", sizeof(float), raw(values), shape);
}
void NpzWriter::add(std::string_view name, std::span<const std::int64_t> values, std::span<const std::size_t> shape) {
  add_bytes(name, "<i8", sizeof(std::int64_t), raw(values), shape);
}
void NpzWriter::add_text(std::string_view name, std::string_view text) { add_bytes(name, "|u1", 1, text, {}); }

Result<std::string> NpzWriter::finish() {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max() - (1U << 26U);
  if (bytes_.size() > kMost || entries_.size() > std::numeric_limits<std::uint16_t>::max()) {
    return Error{"too much for one .npz file: " + std::to_string(bytes_.size()) + " bytes in " + std::to_string(entries_.size()) +
                 " arrays"};
  }
  const std::size_t directory = bytes_.size();
  for (const Entry& entry : entries_) {
    append(bytes_, kCentral);
    append(bytes_, kVersion);
    append_common(bytes_, entry.crc, entry.size, entry.name);
    bytes_.append(10, '\0');  // comment, disk, attributes
    append(bytes_, static_cast<std::uint32_t>(entry.offset));
    bytes_ += entry.name;
  }
  const std::size_t size = bytes_.size() - directory;
  append(bytes_, kEnd);
  append(bytes_, std::uint32_t{0});  // disks
  append(bytes_, static_cast<std::uint16_t>(entries_.size()));
  append(bytes_, static_cast<std::uint16_t>(entries_.size()));
  append(bytes_, static_cast<std::uint32_t>(size));
  append(bytes_, static_cast<std::uint32_t>(directory));
  append(bytes_, std::uint16_t{0});
  return std::move(bytes_);
}

Result<NpzReader::Array> NpzReader::parse_npy(std::string_view bytes, std::string name, std::size_t offset) {
  if (bytes.size() < kMagic.size() + 2 || bytes.substr(0, kMagic.size()) != kMagic) return broken(name + " is no array of format 1.0");
  const std::size_t length = at<std::uint16_t>(bytes, kMagic.size());
  const std::size_t begin = kMagic.size() + 2;
  if (bytes.size() - begin < length) return broken(name + ": header cut off");
  const std::string_view header = bytes.substr(begin, length);
  Array array;
  array.name = std::move(name);
  const std::string_view type = value_of(header, "descr");
  array.type = type.size() > 2 ? std::string(type.substr(1, type.size() - 2)) : "";
  const std::size_t item = item_size(array.type);
  if (item == 0) return broken(array.name + ": type " + std::string(type));
  if (value_of(header, "fortran_order") != "False") return broken(array.name + ": not in C order");
  const std::string_view shape = value_of(header, "shape");
  if (shape.size() < 2) return broken(array.name + ": no shape");
  array.offset = offset + begin + length;
  array.size = bytes.size() - begin - length;
  std::size_t count = 1;
  for (const std::string_view piece : split(shape.substr(1, shape.size() - 2), ',')) {
    if (piece.empty()) continue;
    const auto size = parse_int(piece);
    if (!size || *size < 0) return broken(array.name + ": shape " + std::string(shape));
    const auto whole = static_cast<std::size_t>(*size);
    if (whole != 0 && count > array.size / whole) return broken(array.name + ": shape " + std::string(shape) + " of too few values");
    count *= whole;
    array.shape.push_back(whole);
  }
  if (count * item != array.size) return broken(array.name + ": shape " + std::string(shape) + " of other than its values");
  return array;
}

Result<NpzReader> NpzReader::parse(std::string bytes) {
  NpzReader reader;
  reader.bytes_ = std::move(bytes);
  const std::string_view all = reader.bytes_;
  if (all.size() < kEndSize || at<std::uint32_t>(all, all.size() - kEndSize) != kEnd) return broken("its end is missing");
  const std::size_t end = all.size() - kEndSize;
  const std::size_t count = at<std::uint16_t>(all, end + 10);
  std::size_t place = at<std::uint32_t>(all, end + 16);
  for (std::size_t k = 0; k < count; ++k) {
    if (place > end || end - place < kCentralSize || at<std::uint32_t>(all, place) != kCentral) return broken("its directory is damaged");
    const std::size_t name_size = at<std::uint16_t>(all, place + 28);
    const std::size_t more = std::size_t{at<std::uint16_t>(all, place + 30)} + at<std::uint16_t>(all, place + 32);
    const std::size_t size = at<std::uint32_t>(all, place + 20);
    const std::size_t local = at<std::uint32_t>(all, place + 42);
    if (end - place - kCentralSize < name_size + more) return broken("its directory is damaged");
    std::string name(all.substr(place + kCentralSize, name_size));
    if (at<std::uint16_t>(all, place + 10) != 0 || at<std::uint32_t>(all, place + 24) != size) return broken(name + " is compressed");
    if (local > end || end - local < kLocalSize || at<std::uint32_t>(all, local) != kLocal)
      return broken(name + " is not where it should be");
    const std::size_t begin = local + kLocalSize + at<std::uint16_t>(all, local + 26) + at<std::uint16_t>(all, local + 28);
    if (begin > end || end - begin < size) return broken(name + " is cut off");
    const std::string_view content = all.substr(begin, size);
    if (recording::crc32(recording::as_bytes(content)) != at<std::uint32_t>(all, place + 16)) return broken(name + ": wrong checksum");
    if (name.size() > kSuffix.size() && name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    Result<Array> array = parse_npy(content, std::move(name), begin);
    if (!array) return array.error();
    reader.arrays_.push_back(*std::move(array));
    place += kCentralSize + name_size + more;
  }
  return reader;
}

const NpzReader::Array* NpzReader::find(std::string_view name) const {
  const auto same = [&](const Array& array) { return array.name == name; };
  const auto found = std::find_if(arrays_.begin(), arrays_.end(), same);
  return found == arrays_.end() ? nullptr : &*found;
}

template <class T>
std::optional<std::vector<T>> NpzReader::values(std::string_view name, std::string_view type) const {
  const Array* array = find(name);
  if (array == nullptr || array->type != type) return std::nullopt;
  std::vector<T> result(array->size / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes_.data() + array->offset, array->size);
  return result;
}

std::optional<std::vector<double>> NpzReader::doubles(std::string_view name) const { return values<double>(name, "<f8"); }
std::optional<std::vector<float>> NpzReader::floats(std::string_view name) const { return values<float>(name, "<f4"); }
std::optional<std::vector<std::int64_t>> NpzReader::integers(std::string_view name) const { return values<std::int64_t>(name, "<i8"); }
std::optional<std::string> NpzReader::text(std::string_view name) const {
  const Array* array = find(name);
  if (array == nullptr || array->type != "|u1") return std::nullopt;
  return bytes_.substr(array->offset, array->size);
}
std::vector<std::size_t> NpzReader::shape(std::string_view name) const {
  const Array* array = find(name);
  return array == nullptr ? std::vector<std::size_t>{} : array->shape;
}
std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  for (const Array& array : arrays_) names.push_back(array.name);
  return names;
}

}  // namespace pitwall::analysis
