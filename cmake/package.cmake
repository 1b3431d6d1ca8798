# SPDX-License-Identifier: Apache-2.0
# What leaves the tree: `cmake --install` (programs, data, libraries, headers, the CMake package `pitwall`) and, by CPack,
# a .deb of the same (cpack -G DEB --config build/release/CPackConfig.cmake).
include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/pitwall")
install(TARGETS pitwall_flags EXPORT pitwall)
install(EXPORT pitwall NAMESPACE pitwall:: FILE pitwallTargets.cmake DESTINATION "${package_folder}")
configure_package_config_file(cmake/pitwallConfig.cmake.in "${PROJECT_BINARY_DIR}/pitwallConfig.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pitwallConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pitwallConfig.cmake" "${PROJECT_BINARY_DIR}/pitwallConfigVersion.cmake" DESTINATION "${package_folder}")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Pitwall authors <pitwall@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Only who builds against the libraries needs these.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cyclonedds-dev, libbox2d-dev, libceres-dev, libdeflate-dev, libeigen3-dev, libhwy-dev, liblz4-dev, libpng-dev, libsqlite3-dev, libspdlog-dev, libyaml-cpp-dev, libzstd-dev, nlohmann-json3-dev, pkg-config")
include(CPack)
