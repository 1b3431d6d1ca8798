// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/plain_cdr.hpp"

#include <dds/dds.h>
#include <dds/ddsi/ddsi_keyhash.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_radmin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <vector>

namespace pitwall::ros_bridge {
namespace {

/// Followed in memory by its bytes, and by zeros up to the next multiple of four: RTPS sends whole words.
struct PlainCdr : ddsi_serdata {
  std::uint32_t size = 0;
  std::int64_t arrived_ns = 0;
  std::uint64_t order = 0;

  unsigned char* bytes() { return reinterpret_cast<unsigned char*>(this + 1); }
  const unsigned char* bytes() const { return reinterpret_cast<const unsigned char*>(this + 1); }
};

const PlainCdr& of(const ddsi_serdata* message) { return *static_cast<const PlainCdr*>(message); }

constexpr std::size_t whole_words(std::size_t size) { return (size + 3) / 4 * 4; }

PlainCdr* make(const ddsi_sertype* type, ddsi_serdata_kind kind, std::size_t size) {
  static std::atomic<std::uint64_t> count{0};
  auto* message = new (::operator new(sizeof(PlainCdr) + whole_words(size))) PlainCdr;
  ddsi_serdata_init(message, type, kind);
  message->hash = type->serdata_basehash;
  message->size = static_cast<std::uint32_t>(size);
  message->arrived_ns = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  message->order = count.fetch_add(1, std::memory_order_relaxed);
  std::memset(message->bytes() + size, 0, whole_words(size) - size);
  return message;
}

ddsi_serdata* from_fragments(const ddsi_sertype* type, ddsi_serdata_kind kind, const nn_rdata* fragment, std::size_t size) {
  PlainCdr* message = make(type, kind, size);
  std::uint32_t filled = 0;
  for (; fragment != nullptr; fragment = fragment->nextfrag) {
    if (fragment->maxp1 <= filled) continue;  // they may overlap
    const unsigned char* payload = NN_RMSG_PAYLOADOFF(fragment->rmsg, NN_RDATA_PAYLOAD_OFF(fragment));
    const std::uint32_t end = std::min(fragment->maxp1, message->size);
    std::memcpy(message->bytes() + filled, payload + (filled - fragment->min), end - filled);
    filled = end;
  }
  return message;
}

ddsi_serdata* from_pieces(const ddsi_sertype* type, ddsi_serdata_kind kind, ddsrt_msg_iovlen_t count, const ddsrt_iovec_t* pieces,
                          std::size_t size) {
  PlainCdr* message = make(type, kind, size);
  std::size_t filled = 0;
  for (ddsrt_msg_iovlen_t i = 0; i < count && filled < size; ++i) {
    const std::size_t length = std::min<std::size_t>(pieces[i].iov_len, size - filled);
    std::memcpy(message->bytes() + filled, pieces[i].iov_base, length);
    filled += length;
  }
  return message;
}

/// Named for tsan.supp.
void free_message(ddsi_serdata* message) { ::operator delete(static_cast<void*>(static_cast<PlainCdr*>(message))); }

ddsi_serdata* no_content(const ddsi_sertype* type) { return make(type, SDK_KEY, 0); }

const ddsi_serdata_ops kMessageOps = [] {
  ddsi_serdata_ops ops{};
  ops.eqkey = [](const ddsi_serdata*, const ddsi_serdata*) { return true; };
  ops.get_size = [](const ddsi_serdata* message) { return of(message).size; };
  ops.from_ser = from_fragments;
  ops.from_ser_iov = from_pieces;
  ops.from_keyhash = [](const ddsi_sertype* type, const ddsi_keyhash*) { return no_content(type); };
  // Nothing here is a sample in C; only bytes are written and taken.
  ops.from_sample = [](const ddsi_sertype*, ddsi_serdata_kind, const void*) -> ddsi_serdata* { return nullptr; };
  ops.to_sample = [](const ddsi_serdata*, void*, void**, void*) { return false; };
  ops.untyped_to_sample = [](const ddsi_sertype*, const ddsi_serdata*, void*, void**, void*) { return false; };
  ops.to_ser = [](const ddsi_serdata* message, std::size_t offset, std::size_t size, void* out) {
    std::memcpy(out, of(message).bytes() + offset, size);
  };
  ops.to_ser_ref = [](const ddsi_serdata* message, std::size_t offset, std::size_t size, ddsrt_iovec_t* out) {
    ddsi_serdata* shared = ddsi_serdata_ref(message);
    out->iov_base = static_cast<PlainCdr*>(shared)->bytes() + offset;
    out->iov_len = size;
    return shared;
  };
  ops.to_ser_unref = [](ddsi_serdata* message, const ddsrt_iovec_t*) { ddsi_serdata_unref(message); };
  ops.to_untyped = [](const ddsi_serdata* message) {
    ddsi_serdata* untyped = no_content(message->type);
    untyped->type = nullptr;
    return untyped;
  };
  ops.free = free_message;
  ops.print = [](const ddsi_sertype* type, const ddsi_serdata*, char* out, std::size_t size) {
    const std::size_t length = std::min(std::strlen(type->type_name), size - 1);
    std::memcpy(out, type->type_name, length);
    out[length] = '\0';
    return length;
  };
  ops.get_keyhash = [](const ddsi_serdata*, ddsi_keyhash* out, bool) { std::memset(out, 0, sizeof *out); };
  return ops;
}();

const ddsi_sertype_ops kTypeOps = [] {
  ddsi_sertype_ops ops{};
  ops.version = ddsi_sertype_v0;
  ops.free = [](ddsi_sertype* type) {
    ddsi_sertype_fini(type);
    delete type;
  };
  ops.zero_samples = [](const ddsi_sertype*, void*, std::size_t) {};
  ops.realloc_samples = [](void** out, const ddsi_sertype*, void*, std::size_t, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = nullptr;
  };
  ops.free_samples = [](const ddsi_sertype*, void**, std::size_t, dds_free_op_t) {};
  ops.equal = [](const ddsi_sertype*, const ddsi_sertype*) { return true; };  // what Cyclone compares, the name, is all there is
  ops.hash = [](const ddsi_sertype*) { return std::uint32_t{0}; };
  return ops;
}();

}  // namespace

ddsi_sertype* make_plain_cdr_type(const std::string& dds_type_name) {
  auto* type = new ddsi_sertype{};
  ddsi_sertype_init(type, dds_type_name.c_str(), &kTypeOps, &kMessageOps, true);
  type->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
  return type;
}

ddsi_serdata* make_plain_cdr(const ddsi_sertype* type, std::string_view cdr) {
  PlainCdr* message = make(type, SDK_DATA, cdr.size());
  std::memcpy(message->bytes(), cdr.data(), cdr.size());
  return message;
}

PlainCdrView view_plain_cdr(const ddsi_serdata* message) {
  const PlainCdr& plain = of(message);
  return {{reinterpret_cast<const char*>(plain.bytes()), plain.size}, plain.arrived_ns, plain.order};
}

}  // namespace pitwall::ros_bridge
