// NAME: for each value that differs from the baseline, the packet has two variable-length integers:
// the number of equal values before it, and the difference.
extern "C" {
#include "wirelab.h"
}

// The state of an encoder or decoder. There is one, because each has a module instance of its own.
struct wl_end {
    int32_t fields, cells;
};

namespace {

struct writer {
    uint8_t *at, *stop;
    bool full() const { return stop - at < 10; }
    void put(uint32_t v) {
        for (; v >= 128; v >>= 7) *at++ = uint8_t(v | 128);
        *at++ = uint8_t(v);
    }
};

struct reader {
    const uint8_t *at, *stop;
    bool get(uint32_t &v) {
        v = 0;
        for (int shift = 0; at < stop && shift < 35; shift += 7) {
            v |= uint32_t(*at & 127) << shift;
            if (*at++ < 128) return true;
        }
        return false;
    }
};

// zigzag: small for differences near 0
uint32_t fold(uint32_t d) { return d << 1 ^ (d >> 31 ? ~0u : 0); }
uint32_t unfold(uint32_t d) { return d >> 1 ^ (0u - (d & 1)); }

wl_end the_end;

} // namespace

// wl_alloc takes memory from the end of the heap. Nothing is freed.
extern "C" unsigned char __heap_base;

void *wl_alloc(uint32_t size) {
    static uintptr_t next = (uintptr_t(&__heap_base) + 7) & ~uintptr_t(7);
    uintptr_t at = next, end = at + ((size + 7) & ~7u), have = uintptr_t(__builtin_wasm_memory_size(0)) << 16;
    if (end < at || (end > have && __builtin_wasm_memory_grow(0, (end - have + 65535) >> 16) == ~0ul)) return nullptr;
    next = end;
    return reinterpret_cast<void *>(at);
}

int32_t wl_abi() { return WL_ABI; }
const char *wl_error() { return nullptr; }

const wl_codec *wl_describe(int32_t i) {
    static const wl_codec codec = {"NAME", "values that differ from the baseline's, in bytes", "you", 1,
                                   WL_SUITS_TABLES | WL_SUITS_CUBES, 0, 0, 0, nullptr};
    return i == 0 ? &codec : nullptr;
}

wl_end *wl_create(int32_t, const wl_schema *schema, const double *) {
    the_end = {schema->field_count, schema->field_count * schema->rows};
    return &the_end;
}

int32_t wl_encode(wl_end *end, wl_call *call) {
    const int32_t *cur = call->frame.table, *base = call->refs[0].table;
    writer out = {call->packet, call->packet + call->packet_room};
    int32_t skipped = 0;
    for (int32_t i = 0; i < end->cells; i++, skipped++) {
        if (cur[i] == base[i]) continue;
        if (out.full()) return WL_REFUSED;
        uint8_t *from = out.at;
        out.put(uint32_t(skipped));
        out.put(fold(uint32_t(cur[i]) - uint32_t(base[i]))); // wraps around, as in wl_decode
        if (call->bits) call->bits[i % end->fields] += uint32_t(out.at - from) * 8 * 1024;
        skipped = -1;
    }
    call->packet_size = uint32_t(out.at - call->packet);
    return WL_OK;
}

int32_t wl_decode(wl_end *end, wl_call *call) {
    int32_t *cur = call->frame.table;
    const int32_t *base = call->refs[0].table;
    reader in = {call->packet, call->packet + call->packet_size};
    for (int32_t i = 0; i < end->cells; i++) cur[i] = base[i];
    for (uint32_t i = 0; in.at < in.stop; i++) {
        uint32_t skip, d;
        if (!in.get(skip) || !in.get(d)) return WL_TRUNCATED;
        if (skip >= uint32_t(end->cells) || (i += skip) >= uint32_t(end->cells)) return WL_CORRUPT;
        cur[i] = int32_t(uint32_t(base[i]) + unfold(d));
    }
    return WL_OK;
}
