// SPDX-License-Identifier: Apache-2.0
#include "core/car.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace pitwall;

TEST_CASE("the chassis is centred between the axles") {
  CarParameters car;
  car.wheelbase_m = 0.33;
  car.body_length_m = 0.53;
  car.body_width_m = 0.28;
  car.length_m = 0.58;
  car.width_m = 0.31;
  CHECK(car.chassis().rear_m == doctest::Approx(-0.10));
  CHECK(car.chassis().front_m == doctest::Approx(0.43));
  CHECK(car.chassis().half_width_m == doctest::Approx(0.14));
  CHECK(car.padded_body().front_m == doctest::Approx(0.455));
}

TEST_CASE("the centre of gravity divides the wheelbase") {
  CarParameters car;
  car.wheelbase_m = 0.33;
  car.cog_front_fraction = 0.4;
  CHECK(car.lf_m() == doctest::Approx(0.132));
  CHECK(car.lf_m() + car.lr_m() == doctest::Approx(0.33));
}

TEST_CASE("every field of the car has a name of its own and a sentence") {
  std::set<std::string> names;
  for (const FieldDescription& row : describe_fields(CarParameters{})) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.doc.empty());
    CHECK_FALSE(row.range.empty());
  }
  // 8-byte members only: a member that fields() forgot shows here.
  CHECK(names.size() * 8 == sizeof(CarParameters));
}

TEST_CASE("a car that nobody filled in is refused") { CHECK_FALSE(check_fields("car", CarParameters{}).ok()); }
