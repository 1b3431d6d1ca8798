#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes core/math_tables.hpp: the constants of core/math, from integer and decimal arithmetic with 400 digits.

Usage: tools/make_math_tables.py > core/math_tables.hpp
"""
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 420


def machin_pi():
    """pi by Machin's formula: 16 atan(1/5) - 4 atan(1/239)."""
    def atan_inverse(n):
        total, term, k = Decimal(0), Decimal(1) / n, 0
        while abs(term) > Decimal(10) ** -415:
            total += term / (2 * k + 1) if k % 2 == 0 else -term / (2 * k + 1)
            term /= n * n
            k += 1
        return total
    return 16 * atan_inverse(5) - 4 * atan_inverse(239)


def atan(x):
    """atan by halving the argument three times, then its series."""
    x, factor = Decimal(x), 1
    for _ in range(4):
        x = x / (1 + (1 + x * x).sqrt())
        factor *= 2
    total, power, k = Decimal(0), x, 0
    while abs(power) > Decimal(10) ** -410:
        total += power / (2 * k + 1) if k % 2 == 0 else -power / (2 * k + 1)
        power *= x * x
        k += 1
    return factor * total


def head(value, bits):
    """The leading `bits` bits of a positive value, truncated."""
    scaled, shift = Fraction(value), 0
    while scaled < 1:
        scaled, shift = scaled * 2, shift + 1
    while scaled >= 2:
        scaled, shift = scaled / 2, shift - 1
    return Fraction(int(scaled * 2 ** (bits - 1)), 2 ** (bits - 1)) / (Fraction(2) ** shift)


def literal(value):
    return float(value).hex()


def pair(value):
    high = float(value)
    low = float(Fraction(value) - Fraction(high))
    return "{" + high.hex() + ", " + low.hex() + "}"


pi = machin_pi()
ln2 = Decimal(2).ln()
print("// SPDX-License-Identifier: Apache-2.0")
print("// Made by tools/make_math_tables.py; not edited by hand. A Pair is high + low with |low| <= ulp(high) / 2.")
print("// clang-format off\n#pragma once\n\n#include <array>\n#include <cstdint>\n")
print("namespace pitwall::math::detail {\n")
print("struct Pair {\n  double high;\n  double low;\n};\n")

rest = Fraction(pi) / 2
print("// pi / 2 in parts of 33 bits (products with integers below 2^20 are exact) and what is left of it.")
for name in ("kHalfPi1", "kHalfPi2", "kHalfPi3"):
    part = head(rest, 33)
    print(f"inline constexpr double {name} = {literal(part)};")
    rest -= part
print(f"inline constexpr double kHalfPi4 = {literal(rest)};")
print(f"inline constexpr double kTwoOverPi = {literal(2 / pi)};")
print(f"inline constexpr Pair kPiPair = {pair(pi)};")
print(f"inline constexpr Pair kHalfPiPair = {pair(pi / 2)};\n")

print("// The bits of 2 / pi after the binary point, most significant word first (Payne and Hanek's reduction).")
words = 20
bits = int(Fraction(2) / Fraction(pi) * 2 ** (64 * words))
print(f"inline constexpr std::array<std::uint64_t, {words}> kTwoOverPiBits = {{")
for i in range(words):
    print(f"    0x{(bits >> (64 * (words - 1 - i))) & (2 ** 64 - 1):016x},")
print("};\n")

print("// atan(k / 8), k = 0..8.")
print("inline constexpr std::array<Pair, 9> kAtanEighths = {{")
for k in range(9):
    print(f"    {pair(atan(Fraction(k, 8).numerator / Decimal(Fraction(k, 8).denominator)))}," if k else "    {0.0, 0.0},")
print("}};\n")

step = ln2 / 32
high = head(step, 32)
print("// ln 2 / 32: its first 32 bits, so that products with integers below 2^21 are exact, and the rest.")
print(f"inline constexpr double kStepHigh = {literal(high)};")
print(f"inline constexpr double kStepLow = {literal(Fraction(step) - high)};")
print(f"inline constexpr double kStepsPerUnit = {literal(1 / step)};")
print("// 2^(j / 32), j = 0..31.")
print("inline constexpr std::array<Pair, 32> kExpSteps = {{")
for j in range(32):
    print(f"    {pair((step * j).exp())},")
print("}};\n")

ln2_high = head(ln2, 40)
print("// ln 2: its first 40 bits, so that products with exponents are exact, and the rest.")
print(f"inline constexpr double kLn2High = {literal(ln2_high)};")
print(f"inline constexpr Pair kLn2Low = {pair(Decimal((Fraction(ln2) - ln2_high).numerator) / Decimal((Fraction(ln2) - ln2_high).denominator))};")
print("// For m in [1, 2), i = floor(64 (m - 1)): an inverse of about m with 8 bits (1 beside m = 1; the last cell is not used)\n"
      "// and minus its logarithm, so that log m = minus_log + log1p(m * inverse - 1).")
print("struct LogCell {\n  double inverse;\n  Pair minus_log;\n};")
print("inline constexpr std::array<LogCell, 64> kLogCells = {{")
for i in range(64):
    middle = 1 + (i + 0.5) / 64
    inverse = Fraction(1) if i == 0 else Fraction(1) if i == 63 else Fraction(round(256 / middle), 256)
    value = -(Decimal(inverse.numerator) / Decimal(inverse.denominator)).ln()
    print(f"    {{{literal(inverse)}, {pair(value) if inverse != 1 else '{0.0, 0.0}'}}},")
print("}};\n")
print("}  // namespace pitwall::math::detail")
