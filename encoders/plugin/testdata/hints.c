/* An encoder whose packets are the hints of the fields. Its decoder returns the newest reference. */
#include "wirelab.h"

struct wl_end {
    const wl_hint *hints;
    uint32_t size, cells;
};

int32_t wl_abi(void) { return WL_ABI; }

void *wl_alloc(uint32_t size) {
    static uint64_t heap[1 << 17];
    static uint32_t used;
    void *p = heap + used;
    used += size / 8 + 1;
    return used > sizeof heap / 8 ? 0 : p;
}

const wl_codec *wl_describe(int32_t i) {
    static const wl_codec codec = {.name = "hints", .summary = "the hints", .source = "the lab's own tests", .refs = 1,
        .suits = WL_SUITS_TABLES, .flags = WL_HINTS};
    return i == 0 ? &codec : 0;
}

wl_end *wl_create(int32_t i, const wl_schema *schema, const double *params) {
    (void)i, (void)params;
    wl_end *end = wl_alloc(sizeof *end);
    end->hints = schema->hints;
    end->size = schema->field_count * sizeof *schema->hints;
    end->cells = schema->rows * schema->field_count;
    return end;
}

int32_t wl_encode(wl_end *end, wl_call *call) {
    for (uint32_t i = 0; i < end->size; i++) call->packet[i] = ((const uint8_t *)end->hints)[i];
    call->packet_size = end->size;
    return WL_OK;
}

int32_t wl_decode(wl_end *end, wl_call *call) {
    for (uint32_t i = 0; i < end->cells; i++) call->frame.table[i] = call->refs[0].table[i];
    return WL_OK;
}

const char *wl_error(void) { return 0; }
