// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Writing goes beside the target and is renamed, so nobody ever sees half a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace pitwall {

/// The bytes of a file; the error names it and says why. Folders, devices and pipes are refused.
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes `bytes` to `path` by way of a temporary beside it, creating parent folders. A link is followed;
/// what is no file (a device, a pipe) is refused.
Status write_file(const std::filesystem::path& target, std::string_view bytes);

/// Folder with the data that ships (tracks, cars, scenarios): `../share/pitwall` of the running program, which holds
/// in the build tree and when installed.
std::filesystem::path data_folder();

}  // namespace pitwall
