// SPDX-License-Identifier: Apache-2.0
// The five formats of measurements (Slamtec's protocol document LR001, and rplidar_sdk 2.1 for 85 and 86).
#include <array>

#include "core/math.hpp"
#include "drivers/rplidar.hpp"

namespace pitwall::rplidar {
namespace {

using drivers::u16_le_at;
using drivers::u32_le_at;
using drivers::u8_at;

constexpr double kMillimetre = 1e-3;

// Start angle of a capsule, deg, and whether it is the first after the motor's reset.
struct Start {
  double deg;
  bool first;
};
Start start_of(AnswerType type, Bytes capsule) {
  const std::uint16_t word = u16_le_at(capsule, type == AnswerType::kUltraDense ? 8 : 2);
  return {(word & 0x7FFF) / 64.0, (word & 0x8000) != 0};
}

Point standard_point(Bytes packet) {
  Point point;
  point.clockwise_rad = (u16_le_at(packet, 1) >> 1U) / 64.0 * math::kDegree;
  point.distance_m = u16_le_at(packet, 3) / 4.0 * kMillimetre;
  point.quality = u8_at(packet, 0) >> 2U;
  return point;
}

// Cabins of two distances in mm (14 bits) and two angle corrections of 6 bits in 1/8 deg, unsigned.
void express_points(Bytes capsule, double start_deg, double step_deg, std::vector<Point>& points) {
  for (std::size_t cabin = 0; cabin < 16; ++cabin) {
    const std::size_t at = 4 + 5 * cabin;
    const unsigned low = u8_at(capsule, at + 4);
    for (std::size_t k = 0; k < 2; ++k) {
      const unsigned word = u16_le_at(capsule, at + 2 * k);
      const unsigned correction = (word & 3U) << 4U | (k == 0 ? low & 0xFU : low >> 4U);
      const double deg = start_deg + static_cast<double>(2 * cabin + k) * step_deg - correction / 8.0;
      points.push_back({deg * math::kDegree, (word >> 2U) * kMillimetre, 0});
    }
  }
}

void dense_points(Bytes capsule, double start_deg, double step_deg, std::vector<Point>& points) {
  for (std::size_t i = 0; i < 40; ++i) {
    points.push_back({(start_deg + static_cast<double>(i) * step_deg) * math::kDegree, u16_le_at(capsule, 4 + 2 * i) * kMillimetre, 0});
  }
}

// Twelve bits that grow coarser with distance: mm, and the bits that the neighbours' differences are shifted by.
struct Scaled {
  int mm = 0;
  int shift = 0;
};
Scaled scaled_distance(unsigned code) {
  struct Piece {
    unsigned code;
    int mm;
    int shift;
  };
  constexpr std::array<Piece, 5> kPieces{{{3328, 16384, 4}, {1792, 4096, 3}, {1280, 2048, 2}, {512, 512, 1}, {0, 0, 0}}};
  for (const Piece& piece : kPieces) {
    if (code >= piece.code) {
      return {piece.mm + static_cast<int>((code - piece.code) << piece.shift), piece.shift};
    }
  }
  return {};
}

// A difference of 10 bits; its two ends mean that nothing was measured.
int predicted_mm(unsigned bits, const Scaled& base) {
  const int difference = static_cast<int>(bits) - ((bits & 0x200U) != 0 ? 0x400 : 0);
  const bool measured = difference != 0x1FF && difference != -0x200;
  return measured ? base.mm + difference * (1 << base.shift) : 0;
}

// The laser looks past the axis of the turn: by how much a point's bearing is behind its encoder's angle.
double parallax_rad(int mm) {
  constexpr int kNear = 50;
  if (mm < kNear) {
    return 7.5 * math::kDegree;
  }
  const double k = 98361.0 / (4.0 * mm);
  return 8.0 * math::kDegree - k / 1024.0 - k * k * k / (98304.0 * 65536.0);
}

// Words of a distance and the differences of the two points behind it: the first to it, the second to the next word's.
void ultra_points(Bytes capsule, Bytes next, double start_deg, double step_deg, std::vector<Point>& points) {
  for (std::size_t cabin = 0; cabin < 32; ++cabin) {
    const std::uint32_t word = u32_le_at(capsule, 4 + 4 * cabin);
    const std::uint32_t following = cabin == 31 ? u32_le_at(next, 4) : u32_le_at(capsule, 8 + 4 * cabin);
    const Scaled major = scaled_distance(word & 0xFFFU);
    const Scaled major_after = scaled_distance(following & 0xFFFU);
    const Scaled base = major.mm == 0 && major_after.mm != 0 ? major_after : major;
    const std::array<int, 3> mm{major.mm, predicted_mm(word >> 12U & 0x3FFU, base), predicted_mm(word >> 22U, major_after)};
    for (std::size_t k = 0; k < 3; ++k) {
      const double deg = start_deg + static_cast<double>(3 * cabin + k) * step_deg;
      const int distance = mm[k] > 0 ? mm[k] : 0;
      points.push_back({deg * math::kDegree - parallax_rad(distance), distance * kMillimetre, 0});
    }
  }
}

// Twenty bits: two of scale, then distance and quality, the farther the more of the first and the less of the second.
void ultra_dense_points(Bytes capsule, double start_deg, double step_deg, std::vector<Point>& points) {
  struct Piece {
    unsigned bits;
    unsigned factor;
    unsigned mm;
  };
  constexpr std::array<Piece, 4> kPieces{{{10, 2, 0}, {11, 3, 2046}, {12, 4, 8187}, {13, 5, 24567}}};
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t at = 10 + 5 * (i / 2);
    const unsigned high = u8_at(capsule, at + 4);
    const unsigned code = u16_le_at(capsule, at + 2 * (i % 2)) | (i % 2 == 0 ? high & 0xFU : high >> 4U) << 16U;
    const unsigned scale = code & 3U;
    const Piece& piece = kPieces[scale];
    const unsigned mm = (code >> 2U & ((1U << piece.bits) - 1U)) * piece.factor + piece.mm;
    const unsigned quality = code >> (piece.bits + 2U) << scale;
    points.push_back({(start_deg + static_cast<double>(i) * step_deg) * math::kDegree, mm * kMillimetre, static_cast<int>(quality)});
  }
}

double points_in(AnswerType type) {
  switch (type) {
    case AnswerType::kExpress:
      return 32.0;
    case AnswerType::kUltra:
      return 96.0;
    case AnswerType::kDense:
      return 40.0;
    default:
      return 64.0;
  }
}

}  // namespace

void PointDecoder::decode(const Packet& packet, std::vector<Point>& points) {
  if (packet_length(packet.type) == 0 || packet.data.size() != packet_length(packet.type)) {
    return;
  }
  if (packet.type == AnswerType::kStandard) {
    points.push_back(standard_point(packet.data));
    return;
  }
  decode_capsule(packet, points);
}

void PointDecoder::decode_capsule(const Packet& packet, std::vector<Point>& points) {
  constexpr double kMostDeg = 180.0;  // of one capsule; beyond it capsules are missing
  const Start start = start_of(packet.type, packet.data);
  if (!previous_.empty() && type_ == packet.type && !start.first && !packet.after_loss) {
    const double previous_deg = start_of(type_, previous_).deg;
    const double span_deg = start.deg - previous_deg + (start.deg < previous_deg ? 360.0 : 0.0);
    const double step_deg = span_deg / points_in(type_);
    if (span_deg <= kMostDeg) {
      switch (type_) {
        case AnswerType::kExpress:
          express_points(previous_, previous_deg, step_deg, points);
          break;
        case AnswerType::kUltra:
          ultra_points(previous_, packet.data, previous_deg, step_deg, points);
          break;
        case AnswerType::kDense:
          dense_points(previous_, previous_deg, step_deg, points);
          break;
        default:
          ultra_dense_points(previous_, previous_deg, step_deg, points);
          break;
      }
    }
  }
  type_ = packet.type;
  previous_.assign(packet.data.begin(), packet.data.end());
}

}  // namespace pitwall::rplidar
