// SPDX-License-Identifier: Apache-2.0
// Arrays in a file that numpy opens: np.load("run.npz")["commands/speed_mps"]. A zip archive of .npy entries (format 1.0, little-endian, C
// order), stored without compression (APPNOTE 6.3.9 sections 4.3 to 4.4; NEP 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace pitwall::analysis {

/// Collects arrays and gives the bytes of the file. Names are unique; a file holds less than 4 GB and 65535 arrays.
class NpzWriter {
 public:
  /// `shape` has the sizes of the dimensions; empty: one dimension.
  void add(std::string_view name, std::span<const double> values, std::span<const std::size_t> shape = {});
  void add(std::string_view name, std::span<const float> values, std::span<const std::size_t> shape = {});
  void add(std::string_view name, std::span<const std::int64_t> values, std::span<const std::size_t> shape = {});
  /// Text as an array of bytes: bytes(a["name"]).decode() in Python.
  void add_text(std::string_view name, std::string_view text);

  /// The file. Errors: larger than the format allows.
  [[nodiscard]] Result<std::string> finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t crc = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
  };
  void add_bytes(std::string_view name, std::string_view type, std::size_t item, std::string_view bytes,
                 std::span<const std::size_t> shape);

  std::string bytes_;
  std::vector<Entry> entries_;
};

/// The arrays of such a file, as this writer and np.savez write it. Whatever else is in the bytes is an error, never a crash.
class NpzReader {
 public:
  /// Checks every entry with its checksum. Errors: no such archive, compressed entries, types other than f8, f4, i8, u1.
  static Result<NpzReader> parse(std::string bytes);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The values of an array; nothing where there is none of that name and type.
  [[nodiscard]] std::optional<std::vector<double>> doubles(std::string_view name) const;
  [[nodiscard]] std::optional<std::vector<float>> floats(std::string_view name) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::vector<std::size_t> shape(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Array {
    std::string name;
    std::string type;  ///< "<f8"
    std::vector<std::size_t> shape;
    std::size_t offset = 0;  ///< of the first value in bytes_
    std::size_t size = 0;    ///< in bytes
  };
  static Result<Array> parse_npy(std::string_view bytes, std::string name, std::size_t offset);
  [[nodiscard]] const Array* find(std::string_view name) const;
  template <class T>
  [[nodiscard]] std::optional<std::vector<T>> values(std::string_view name, std::string_view type) const;

  std::string bytes_;
  std::vector<Array> arrays_;
};

}  // namespace pitwall::analysis
