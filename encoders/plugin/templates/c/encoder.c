/* NAME: for each value that differs from the baseline, the packet has two variable-length integers:
 * the number of equal values before it, and the difference.
 */
#include "wirelab.h"

/* The state of an encoder or decoder. */
struct wl_end {
    int32_t fields, cells;
};

/* wl_alloc takes memory from the end of the heap. Nothing is freed. */
extern unsigned char __heap_base;

void *wl_alloc(uint32_t size) {
    static uintptr_t next;
    if (!next) next = ((uintptr_t)&__heap_base + 7) & ~(uintptr_t)7;
    uintptr_t at = next, end = at + ((size + 7) & ~(uint32_t)7);
    uintptr_t have = __builtin_wasm_memory_size(0) << 16;
    if (end < at) return 0;
    if (end > have && __builtin_wasm_memory_grow(0, (end - have + 65535) >> 16) == (unsigned long)-1) return 0;
    next = end;
    return (void *)at;
}

int32_t wl_abi(void) { return WL_ABI; }
const char *wl_error(void) { return 0; }

const wl_codec *wl_describe(int32_t i) {
    static const wl_codec codec = {
        .name = "NAME", .summary = "values that differ from the baseline's, in bytes", .source = "you",
        .refs = 1, .suits = WL_SUITS_TABLES | WL_SUITS_CUBES,
    };
    return i == 0 ? &codec : 0;
}

wl_end *wl_create(int32_t i, const wl_schema *schema, const double *params) {
    wl_end *end = wl_alloc(sizeof *end);
    (void)i, (void)params;
    if (end) end->fields = schema->field_count, end->cells = schema->field_count * schema->rows;
    return end;
}

/* put writes v in 7 bits per byte, the lowest first, and returns the position after it. */
static uint8_t *put(uint8_t *p, uint32_t v) {
    for (; v >= 128; v >>= 7) *p++ = (uint8_t)(v | 128);
    *p++ = (uint8_t)v;
    return p;
}

int32_t wl_encode(wl_end *end, wl_call *call) {
    const int32_t *cur = call->frame.table, *base = call->refs[0].table;
    uint8_t *p = call->packet;
    int32_t skipped = 0;
    for (int32_t i = 0; i < end->cells; i++, skipped++) {
        if (cur[i] == base[i]) continue;
        if ((uint32_t)(p - call->packet) + 10 > call->packet_room) return WL_REFUSED;
        uint8_t *from = p;
        uint32_t d = (uint32_t)cur[i] - (uint32_t)base[i]; /* wraps around, as in wl_decode */
        p = put(p, (uint32_t)skipped);
        p = put(p, d << 1 ^ (d >> 31 ? 0xffffffffu : 0)); /* zigzag: small for differences near 0 */
        if (call->bits) call->bits[i % end->fields] += (uint32_t)(p - from) * 8 * 1024;
        skipped = -1;
    }
    call->packet_size = (uint32_t)(p - call->packet);
    return WL_OK;
}

/* get reads a number that put wrote and returns the position after it; 0 if the number is incomplete. */
static const uint8_t *get(const uint8_t *p, const uint8_t *stop, uint32_t *v) {
    *v = 0;
    for (int shift = 0; p < stop && shift < 35; shift += 7) {
        *v |= (uint32_t)(*p & 127) << shift;
        if (*p++ < 128) return p;
    }
    return 0;
}

int32_t wl_decode(wl_end *end, wl_call *call) {
    int32_t *cur = call->frame.table;
    const int32_t *base = call->refs[0].table;
    const uint8_t *p = call->packet, *stop = p + call->packet_size;
    for (int32_t i = 0; i < end->cells; i++) cur[i] = base[i];
    for (uint32_t i = 0; p < stop; i++) {
        uint32_t skip, d;
        if (!(p = get(p, stop, &skip)) || !(p = get(p, stop, &d))) return WL_TRUNCATED;
        if (skip >= (uint32_t)end->cells || (i += skip) >= (uint32_t)end->cells) return WL_CORRUPT;
        cur[i] = (int32_t)((uint32_t)base[i] + (d >> 1 ^ (0u - (d & 1))));
    }
    return WL_OK;
}
