// SPDX-License-Identifier: Apache-2.0
#include "localization/small_matrix.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::localization;

TEST_CASE("products, sums and the transpose are those of the definition") {
  const Matrix<2, 3> a{{1, 2, 3, 4, 5, 6}};
  CHECK((a * transposed(a)) == Matrix<2, 2>{{14, 32, 32, 77}});
  CHECK((a + 2.0 * a - a) == 2.0 * a);
  CHECK(sandwich(a, diagonal<3>({1, 10, 100})) == Matrix<2, 2>{{941, 1904, 1904, 3866}});
}

TEST_CASE("eigenvectors make the matrix again, in ascending order") {
  const Rng draw(3, "eigen");
  for (std::uint64_t n = 0; n < 50; ++n) {
    Matrix3 b;
    for (std::uint32_t i = 0; i < 9; ++i) b.v[i] = draw.normal(n, i);
    const Matrix3 a = n == 0 ? diagonal<3>({3, 1, 2}) : n == 1 ? Matrix3{} : b * transposed(b);
    const Eigen3 e = eigen_symmetric(a);
    CHECK(e.values[0] <= e.values[1]);
    CHECK(e.values[1] <= e.values[2]);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::array<double, 3> v{e.vectors(0, k), e.vectors(1, k), e.vectors(2, k)};
      CHECK(*std::max_element(v.begin(), v.end()) >= -*std::min_element(v.begin(), v.end()));
    }
    const Matrix3 again = sandwich(e.vectors, diagonal(e.values));
    const Matrix3 unit = transposed(e.vectors) * e.vectors;
    for (std::size_t i = 0; i < 9; ++i) {
      CHECK(again.v[i] == doctest::Approx(a.v[i]).epsilon(1e-12));
      CHECK(unit.v[i] == doctest::Approx(identity<3>().v[i]));
    }
  }
}
