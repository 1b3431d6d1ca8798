// SPDX-License-Identifier: Apache-2.0
#include "recording/sqlite_pages.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace pitwall::recording {
namespace {

constexpr std::uint8_t kTableLeaf = 0x0D;
constexpr std::size_t kFileHeader = 100;
constexpr std::size_t kLeafHeader = 8;
constexpr std::array<std::size_t, 8> kPageSizes = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};

/// SQLite's variable-length number at `at`, which moves behind it; false at the end of the bytes.
bool take_varint(Bytes from, std::size_t& at, std::uint64_t& value) {
  value = 0;
  for (int k = 0; k < 9; ++k) {
    if (at >= from.size()) return false;
    const std::uint8_t byte = from[at++];
    if (k == 8) {
      value = value << 8U | byte;
      return true;
    }
    value = value << 7U | (byte & 0x7FU);
    if (byte < 0x80) return true;
  }
  return true;
}

/// Bytes of a column by its serial type.
std::uint64_t size_of_type(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 12> kSizes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < kSizes.size() ? kSizes[type] : (type - 12) / 2;
}
bool is_integer(std::uint64_t type) { return (type >= 1 && type <= 6) || type == 8 || type == 9; }
bool is_blob(std::uint64_t type) { return type >= 12 && type % 2 == 0; }
bool is_text(std::uint64_t type) { return type >= 13 && type % 2 == 1; }

}  // namespace

PageWalker::PageWalker(ByteSource& source) : source_(source) {
  find_page_size();
  page_count_ = std::min<std::uint64_t>(source_.size() / page_size_, UINT32_MAX - 1);
  // Each page of a sound database is in one chain; those of a hostile one, shared by all its rows, must not take for ever.
  overflow_left_ = 4 * page_count_;
  mark_free_pages();
}

void PageWalker::find_page_size() {
  std::array<std::uint8_t, kFileHeader> header{};
  const bool whole = source_.read(0, header) == header.size();
  const std::size_t claimed = load_be<std::uint16_t>(&header[16]) == 1 ? 65536 : load_be<std::uint16_t>(&header[16]);
  const bool fractions = header[21] == 64 && header[22] == 32 && header[23] == 32;
  if (whole && fractions && std::find(kPageSizes.begin(), kPageSizes.end(), claimed) != kPageSizes.end()) {
    page_size_ = claimed;
    usable_ = claimed - std::min<std::size_t>(header[20], claimed - 480);
    return;
  }
  // The header is lost. A size that is too small sees the same leaves, one that is too large a part of them: the largest
  // that sees nearly all is right.
  std::array<std::size_t, kPageSizes.size()> leaves{};
  for (std::size_t k = 0; k < kPageSizes.size(); ++k) leaves[k] = leaves_with_page_size(kPageSizes[k]);
  const std::size_t most = *std::max_element(leaves.begin(), leaves.end());
  for (std::size_t k = 0; k < kPageSizes.size(); ++k) {
    if (10 * leaves[k] >= 9 * most) page_size_ = kPageSizes[k];
  }
  usable_ = page_size_;
}

/// Among the first pages.
std::size_t PageWalker::leaves_with_page_size(std::size_t page_size) {
  constexpr std::uint64_t kLook = 16'000'000;
  page_size_ = usable_ = page_size;
  page_count_ = source_.size() / page_size;
  std::size_t leaves = 0;
  for (std::uint32_t page = 2; page <= page_count_ && page * page_size < kLook; ++page) {
    if (!read_page(page, page_) || page_[0] != kTableLeaf) continue;
    Cell cell;
    const std::size_t at = load_be<std::uint16_t>(&page_[kLeafHeader]);
    leaves += load_be<std::uint16_t>(&page_[3]) > 0 && parse_cell(page_, at, cell) ? 1 : 0;
  }
  return leaves;
}

/// Free pages still hold rows that were deleted; their list begins in the header.
void PageWalker::mark_free_pages() {
  free_.assign(static_cast<std::size_t>(page_count_) + 1, false);
  std::array<std::uint8_t, kFileHeader> header{};
  if (source_.read(0, header) < header.size() || header[21] != 64) return;
  std::uint32_t trunk = load_be<std::uint32_t>(&header[32]);
  while (trunk > 1 && trunk <= page_count_ && !free_[trunk] && read_page(trunk, page_)) {
    free_[trunk] = true;
    const std::size_t leaves = std::min<std::size_t>(load_be<std::uint32_t>(&page_[4]), usable_ / 4 - 2);
    for (std::size_t k = 0; k < leaves; ++k) {
      const auto leaf = load_be<std::uint32_t>(&page_[8 + 4 * k]);
      if (leaf <= page_count_) free_[leaf] = true;
    }
    trunk = load_be<std::uint32_t>(page_.data());
  }
}

bool PageWalker::read_page(std::uint32_t page, Buffer& into) {
  if (page == 0 || page > page_count_) return false;
  into.resize(page_size_);
  return source_.read(std::uint64_t{page - 1} * page_size_, into) == page_size_;
}

/// The cell at that place of a leaf page; false unless all of it fits, columns and sizes included.
bool PageWalker::parse_cell(const Buffer& page, std::size_t at, Cell& cell) const {
  const Bytes used = Bytes(page).first(usable_);
  std::uint64_t row_id = 0;
  if (at < kLeafHeader || !take_varint(used, at, cell.size) || !take_varint(used, at, row_id)) return false;
  if (cell.size > source_.size()) return false;
  cell.row_id = static_cast<std::int64_t>(row_id);
  const std::uint64_t most_local = usable_ - 35;
  std::uint64_t local = cell.size;
  if (cell.size > most_local) {
    const std::uint64_t least = (usable_ - 12) * 32 / 255 - 23;
    const std::uint64_t wanted = least + (cell.size - least) % (usable_ - 4);
    local = wanted <= most_local ? wanted : least;
  }
  cell.local_at = at;
  cell.local_size = static_cast<std::size_t>(local);
  cell.overflow = 0;
  if (local > used.size() - at) return false;
  if (local < cell.size) {
    if (used.size() - at - cell.local_size < sizeof(std::uint32_t)) return false;
    cell.overflow = load_be<std::uint32_t>(&used[at + cell.local_size]);
  }
  return parse_columns(used.subspan(at, cell.local_size), cell);
}

bool PageWalker::parse_columns(Bytes local, Cell& cell) const {
  constexpr std::size_t kMostColumns = 8;
  std::size_t at = 0;
  std::uint64_t header = 0;
  if (!take_varint(local, at, header) || header > local.size()) return false;
  std::uint64_t value_at = header;
  cell.columns.clear();
  while (at < header) {
    Column column;
    if (!take_varint(local, at, column.type) || cell.columns.size() == kMostColumns) return false;
    column.at = value_at;
    column.size = size_of_type(column.type);
    if (column.size > cell.size - value_at) return false;
    value_at += column.size;
    cell.columns.push_back(column);
  }
  return at == header && value_at == cell.size;
}

/// Copies a part of a payload (or, without `into`, only follows it to its end); false where a page of it is missing.
bool PageWalker::read_payload(const Buffer& page, const Cell& cell, std::uint64_t from, std::uint64_t count, Buffer* into) {
  const auto copy = [&](const std::uint8_t* bytes, std::uint64_t first, std::uint64_t size) {
    const std::uint64_t begin = std::max(first, from);
    const std::uint64_t end = std::min(first + size, from + count);
    if (into != nullptr && begin < end) into->insert(into->end(), bytes + (begin - first), bytes + (end - first));
  };
  copy(page.data() + cell.local_at, 0, cell.local_size);
  std::uint32_t next = cell.overflow;
  for (std::uint64_t done = cell.local_size; done < cell.size;) {
    if (into == nullptr) {
      if (overflow_left_ == 0) return false;
      --overflow_left_;
    }
    if (!read_page(next, overflow_)) return false;
    const std::uint64_t size = std::min<std::uint64_t>(usable_ - 4, cell.size - done);
    copy(overflow_.data() + 4, done, size);
    done += size;
    next = load_be<std::uint32_t>(overflow_.data());
  }
  return next == 0;
}

std::int64_t PageWalker::integer(const Buffer& page, const Cell& cell, const Column& column) const {
  if (column.type == 8 || column.type == 9) return static_cast<std::int64_t>(column.type) - 8;
  std::uint64_t value = 0;
  for (std::uint64_t k = 0; k < column.size; ++k) value = value << 8U | page[cell.local_at + column.at + k];
  const unsigned unused = 64 - 8 * static_cast<unsigned>(column.size);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

bool PageWalker::texts(const Cell& cell, std::vector<std::string>& into) {
  if (cell.size > text_left_) return false;
  text_left_ -= cell.size;
  for (std::size_t k = 1; k < cell.columns.size(); ++k) {
    Buffer bytes;
    if (!read_payload(page_, cell, cell.columns[k].at, cell.columns[k].size, &bytes)) return false;
    into.emplace_back(as_text(bytes));
  }
  return true;
}

void PageWalker::take_cell(std::uint32_t number, std::size_t at, const Cell& cell) {
  const std::vector<Column>& columns = cell.columns;
  if (columns.size() < 4 || columns[0].type != 0) return;
  const bool local = columns[2].at + columns[2].size <= cell.local_size;
  if (columns.size() == 4 && local && is_integer(columns[1].type) && is_integer(columns[2].type) && is_blob(columns[3].type)) {
    if (!read_payload(page_, cell, 0, 0, nullptr)) {
      ++cut_;
      return;
    }
    rows_.push_back(
        {cell.row_id, integer(page_, cell, columns[1]), integer(page_, cell, columns[2]), number, static_cast<std::uint32_t>(at)});
    return;
  }
  if (!std::all_of(columns.begin() + 1, columns.end(), [](const Column& column) { return is_text(column.type); })) return;
  SalvagedTopic row;
  row.id = cell.row_id;
  if (!texts(cell, row.columns)) return;
  // message_definitions (type, encoding, text, hash) looks the same, but names a known encoding second.
  if (row.columns[1].starts_with("ros2") || row.columns[1] == "unknown") {
    definitions_.push_back({row.columns[0], row.columns[1], row.columns[2]});
  } else {
    topics_.push_back(std::move(row));
  }
}

bool PageWalker::take_page(std::uint32_t number) {
  if (!read_page(number, page_)) return false;
  const std::size_t header = number == 1 ? kFileHeader : 0;
  if (page_[header] != kTableLeaf) return true;
  const std::size_t cells = std::min<std::size_t>(load_be<std::uint16_t>(&page_[header + 3]), (usable_ - header - kLeafHeader) / 2);
  Cell cell;
  std::vector<bool> taken(usable_, false);  // cells of a sound page do not overlap: a byte belongs to one row
  for (std::size_t k = 0; k < cells; ++k) {
    const std::size_t at = load_be<std::uint16_t>(&page_[header + kLeafHeader + 2 * k]);
    if (!parse_cell(page_, at, cell)) continue;
    const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = taken.begin() + static_cast<std::ptrdiff_t>(cell.local_at + cell.local_size);
    if (std::find(begin, end, true) != end) continue;
    std::fill(begin, end, true);
    take_cell(number, at, cell);
  }
  return true;
}

void PageWalker::walk() {
  for (std::uint32_t number = 1; number <= page_count_; ++number) {
    if (!free_[number]) take_page(number);
  }
  std::sort(rows_.begin(), rows_.end(), [](const SalvagedRow& a, const SalvagedRow& b) {
    return std::tie(a.timestamp_ns, a.id, a.page) < std::tie(b.timestamp_ns, b.id, b.page);
  });
  // A page that was moved while the power went can be there twice.
  const auto same = [](const SalvagedRow& a, const SalvagedRow& b) { return a.id == b.id && a.timestamp_ns == b.timestamp_ns; };
  rows_.erase(std::unique(rows_.begin(), rows_.end(), same), rows_.end());
}

bool PageWalker::read_data(const SalvagedRow& row, Buffer& into) {
  into.clear();
  Cell cell;
  if (!read_page(row.page, page_) || !parse_cell(page_, row.cell, cell) || cell.columns.size() != 4) return false;
  return read_payload(page_, cell, cell.columns[3].at, cell.columns[3].size, &into);
}

}  // namespace pitwall::recording
