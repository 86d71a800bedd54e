/* A module with an endless loop. The macro LOOP selects the function. */
#include "wirelab.h"
static volatile int zero;
static void loop(void) { for (;;) zero++; }
int32_t wl_abi(void) { if (LOOP == 1) loop(); return WL_ABI; }
void *wl_alloc(uint32_t size) { (void)size; if (LOOP == 2) loop(); return 0; }
const wl_codec *wl_describe(int32_t i) {
    static const wl_codec codec = {.name = "loops", .summary = "", .source = "", .refs = 1, .suits = WL_SUITS_CUBES};
    if (LOOP == 3) loop();
    return i == 0 ? &codec : 0;
}
wl_end *wl_create(int32_t i, const wl_schema *schema, const double *params) { (void)i, (void)schema, (void)params; return 0; }
int32_t wl_encode(wl_end *end, wl_call *call) { (void)end, (void)call; return WL_OK; }
int32_t wl_decode(wl_end *end, wl_call *call) { (void)end, (void)call; return WL_OK; }
const char *wl_error(void) { return 0; }
__attribute__((export_name("_initialize"))) void initialize(void) { if (LOOP == 4) loop(); }
