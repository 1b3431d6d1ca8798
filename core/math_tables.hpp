// SPDX-License-Identifier: Apache-2.0
// Made by tools/make_math_tables.py; not edited by hand. A Pair is high + low with |low| <= ulp(high) / 2.
// clang-format off
#pragma once

#include <array>
#include <cstdint>

namespace pitwall::math::detail {

struct Pair {
  double high;
  double low;
};

// pi / 2 in parts of 33 bits (products with integers below 2^20 are exact) and what is left of it.
inline constexpr double kHalfPi1 = 0x1.921fb54400000p+0;
inline constexpr double kHalfPi2 = 0x1.0b4611a600000p-34;
inline constexpr double kHalfPi3 = 0x1.3198a2e000000p-69;
inline constexpr double kHalfPi4 = 0x1.b839a252049c1p-104;
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
inline constexpr Pair kPiPair = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
inline constexpr Pair kHalfPiPair = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// The bits of 2 / pi after the binary point, most significant word first (Payne and Hanek's reduction).
inline constexpr std::array<std::uint64_t, 20> kTwoOverPiBits = {
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

// atan(k / 8), k = 0..8.
inline constexpr std::array<Pair, 9> kAtanEighths = {{
    {0.0, 0.0},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
}};

// ln 2 / 32: its first 32 bits, so that products with integers below 2^21 are exact, and the rest.
inline constexpr double kStepHigh = 0x1.62e42fee00000p-6;
inline constexpr double kStepLow = 0x1.a39ef35793c76p-38;
inline constexpr double kStepsPerUnit = 0x1.71547652b82fep+5;
// 2^(j / 32), j = 0..31.
inline constexpr std::array<Pair, 32> kExpSteps = {{
    {0x1.0000000000000p+0, 0x0.0p+0},
    {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
    {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
    {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
    {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
    {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
    {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
    {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
    {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
    {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
    {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
    {0x1.44e086061892dp+0, 0x1.89b7a04ef80d0p-59},
    {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
    {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
    {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
    {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
    {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
    {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
    {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
    {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
    {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
    {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
    {0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56},
    {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
    {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
    {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
    {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
    {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
    {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
    {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
    {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
    {0x1.f50765b6e4540p+0, 0x1.9d3e12dd8a18bp-54},
}};

// ln 2: its first 40 bits, so that products with exponents are exact, and the rest.
inline constexpr double kLn2High = 0x1.62e42fefa2000p-1;
inline constexpr Pair kLn2Low = {0x1.9ef35793c7673p-41, 0x1.f97b57a079a19p-103};
// For m in [1, 2), i = floor(64 (m - 1)): an inverse of about m with 8 bits (1 beside m = 1; the last cell is not used)
// and minus its logarithm, so that log m = minus_log + log1p(m * inverse - 1).
struct LogCell {
  double inverse;
  Pair minus_log;
};
inline constexpr std::array<LogCell, 64> kLogCells = {{
    {0x1.0000000000000p+0, {0.0, 0.0}},
    {0x1.f400000000000p-1, {0x1.8492528c8cabfp-6, -0x1.d192d0619fa67p-60}},
    {0x1.ec00000000000p-1, {0x1.466aed42de3eap-5, -0x1.cdd6f7f4a137ep-59}},
    {0x1.e600000000000p-1, {0x1.aaef2d0fb10fcp-5, 0x1.a353bb42e0addp-61}},
    {0x1.de00000000000p-1, {0x1.1973bd1465567p-4, -0x1.7558367a6acf6p-59}},
    {0x1.d800000000000p-1, {0x1.4d3115d207eacp-4, 0x1.769f42c7842ccp-58}},
    {0x1.d000000000000p-1, {0x1.9335e5d594989p-4, -0x1.478a85704ccb7p-58}},
    {0x1.ca00000000000p-1, {0x1.c885801bc4b23p-4, 0x1.a38cb559a6706p-58}},
    {0x1.c400000000000p-1, {0x1.fe89139dbd566p-4, -0x1.ac9f4215f9393p-58}},
    {0x1.be00000000000p-1, {0x1.1aa2b7e23f72ap-3, -0x1.c6ef1d9b2ef7ep-59}},
    {0x1.b800000000000p-1, {0x1.365fcb0159016p-3, 0x1.7d411a5b944adp-58}},
    {0x1.b200000000000p-1, {0x1.527e5e4a1b58dp-3, -0x1.71a9682395bfdp-61}},
    {0x1.ac00000000000p-1, {0x1.6f0128b756abcp-3, -0x1.8de59c21e166cp-57}},
    {0x1.a600000000000p-1, {0x1.8beafeb38fe8cp-3, 0x1.55aa8b6997a40p-58}},
    {0x1.a200000000000p-1, {0x1.9f6c407089664p-3, 0x1.35a19605e67efp-59}},
    {0x1.9c00000000000p-1, {0x1.bd087383bd8adp-3, 0x1.dd355f6a516d7p-60}},
    {0x1.9800000000000p-1, {0x1.d1037f2655e7bp-3, 0x1.60629242471a2p-57}},
    {0x1.9200000000000p-1, {0x1.ef5ade4dcffe6p-3, -0x1.08ab2ddc708a0p-58}},
    {0x1.8e00000000000p-1, {0x1.01eae5626c691p-2, -0x1.18290bd2932e2p-59}},
    {0x1.8800000000000p-1, {0x1.1178e8227e47cp-2, -0x1.0e63a5f01c691p-57}},
    {0x1.8400000000000p-1, {0x1.1bf99635a6b95p-2, -0x1.12aeb84249223p-57}},
    {0x1.8000000000000p-1, {0x1.269621134db92p-2, 0x1.e0efadd9db02bp-56}},
    {0x1.7a00000000000p-1, {0x1.36b6776be1117p-2, -0x1.324f0e883858ep-58}},
    {0x1.7600000000000p-1, {0x1.419b423d5e8c7p-2, 0x1.0dbb243827392p-57}},
    {0x1.7200000000000p-1, {0x1.4c9e09e172c3cp-2, -0x1.123615b147a5dp-58}},
    {0x1.6e00000000000p-1, {0x1.57bf753c8d1fbp-2, -0x1.0908d15f88b63p-57}},
    {0x1.6a00000000000p-1, {0x1.630030b3aac49p-2, 0x1.dc18ce51fff99p-57}},
    {0x1.6600000000000p-1, {0x1.6e60ee6af1972p-2, 0x1.657c222d868cdp-58}},
    {0x1.6200000000000p-1, {0x1.79e26687cfb3ep-2, -0x1.c168817443f22p-56}},
    {0x1.5e00000000000p-1, {0x1.85855776dcbfbp-2, -0x1.486666443b153p-56}},
    {0x1.5a00000000000p-1, {0x1.914a8635bf68ap-2, -0x1.ad4bb98c1f2c5p-56}},
    {0x1.5800000000000p-1, {0x1.973a3431356aep-2, -0x1.89d2816cf838fp-57}},
    {0x1.5400000000000p-1, {0x1.a33440224fa79p-2, -0x1.ba8062860ae23p-57}},
    {0x1.5000000000000p-1, {0x1.af5295248cdd0p-2, 0x1.9d56c45dd3e86p-56}},
    {0x1.4c00000000000p-1, {0x1.bb9611b80e2fbp-2, 0x1.6fd02999b21e1p-59}},
    {0x1.4a00000000000p-1, {0x1.c1c60693fa39ep-2, -0x1.bfc00b8f3feaap-56}},
    {0x1.4600000000000p-1, {0x1.ce42f18064743p-2, 0x1.0798270b29f39p-56}},
    {0x1.4200000000000p-1, {0x1.dae75484c9616p-2, -0x1.0b5837185a661p-56}},
    {0x1.4000000000000p-1, {0x1.e148a1a2726cep-2, -0x1.ac81cc8a4dfb8p-56}},
    {0x1.3c00000000000p-1, {0x1.ee2a156b413e5p-2, -0x1.74b71fb5e57e3p-62}},
    {0x1.3a00000000000p-1, {0x1.f4aa7ee03192dp-2, -0x1.0d487f5aba5e5p-57}},
    {0x1.3600000000000p-1, {0x1.00e5ae5b207abp-1, 0x1.1713a36138e19p-57}},
    {0x1.3400000000000p-1, {0x1.04360be7603adp-1, -0x1.17f9e54e78104p-57}},
    {0x1.3000000000000p-1, {0x1.0ae76e2d054fap-1, 0x1.0d710fcfc4e0dp-55}},
    {0x1.2e00000000000p-1, {0x1.0e4898611cce1p-1, 0x1.3300f002e836ep-55}},
    {0x1.2c00000000000p-1, {0x1.11af823c75aa8p-1, -0x1.91eee7772c7c2p-55}},
    {0x1.2800000000000p-1, {0x1.188ee40f23ca6p-1, 0x1.89df1568ca0b0p-55}},
    {0x1.2600000000000p-1, {0x1.1c07849ae6007p-1, 0x1.59bddae1ccce2p-56}},
    {0x1.2400000000000p-1, {0x1.1f8635fc61659p-1, -0x1.2164ff40e9817p-56}},
    {0x1.2000000000000p-1, {0x1.269621134db92p-1, 0x1.e0efadd9db02bp-55}},
    {0x1.1e00000000000p-1, {0x1.2a2786d0ec107p-1, -0x1.6a0c343be95dcp-56}},
    {0x1.1c00000000000p-1, {0x1.2dbf557b0df43p-1, -0x1.b941ee770436bp-56}},
    {0x1.1a00000000000p-1, {0x1.315da4434068bp-1, 0x1.6c3a5f12642c9p-57}},
    {0x1.1600000000000p-1, {0x1.38ae2171976e7p-1, 0x1.21512aa596ea3p-55}},
    {0x1.1400000000000p-1, {0x1.3c6080c36bfb5p-1, 0x1.1930603d87b6ep-56}},
    {0x1.1200000000000p-1, {0x1.4019c2125ca93p-1, 0x1.86cf0f38b461ap-57}},
    {0x1.1000000000000p-1, {0x1.43d9ff2f923c5p-1, -0x1.84f481051f71ap-56}},
    {0x1.0e00000000000p-1, {0x1.47a1527e8a2d3p-1, 0x1.2541aca7d5844p-55}},
    {0x1.0c00000000000p-1, {0x1.4b6fd6f970c1fp-1, 0x1.c457b531506f6p-55}},
    {0x1.0a00000000000p-1, {0x1.4f45a835a4e19p-1, 0x1.d749362382a77p-56}},
    {0x1.0800000000000p-1, {0x1.5322e26867857p-1, 0x1.988ba4aea614dp-56}},
    {0x1.0600000000000p-1, {0x1.5707a26bb8c66p-1, 0x1.80bff3303dd48p-55}},
    {0x1.0400000000000p-1, {0x1.5af405c3649e0p-1, -0x1.6714fbcd8135bp-55}},
    {0x1.0000000000000p+0, {0.0, 0.0}},
}};

}  // namespace pitwall::math::detail
