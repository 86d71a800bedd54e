/* A game of 40 tanks over UDP.
 *
 *   tanks receive PORT SCHEMA     receives states, checks each, and acknowledges it; ends after two seconds without packets
 *   tanks send PORT SCHEMA N      sends N states to this port of this machine; with a fifth argument under a budget in bits per
 *                                 second, which makes states incomplete: the receiver then counts them as wrong
 *
 * Build: go build -tags libwirelab -buildmode=c-shared -o build/libwirelab.so ./cmd/libwirelab
 *        cc -I cmd/libwirelab -o build/tanks cmd/libwirelab/samples/tanks.c build/libwirelab.so
 */
#include "wirelab_endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { ROWS = 40, FIELDS = 4, PACKET_ROOM = 4096 };

/* Writes the state of packet n: the world of a real game. Each tank has x, y, heading and fires. */
static void world(int64_t n, int32_t *state) {
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t moved = i % 4 == 0 ? n * (20 + i) : 0; /* the other tanks stand still */
        state[4 * i] = (int32_t)((900 * i + moved) % 65536);
        state[4 * i + 1] = (int32_t)(20000 + moved / 7 % 500);
        state[4 * i + 2] = (int32_t)((9 * i + moved / 50) % 360);
        state[4 * i + 3] = (int32_t)((n + i) / 10 % 2);
    }
}

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void fail(const char *text) {
    fprintf(stderr, "tanks: %s\n", text);
    exit(1);
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 65536);
    if (!f || !text || fread(text, 1, 65535, f) == 0) fail(path);
    fclose(f);
    return text;
}

/* Ends the program unless states have the size of its buffers. */
static void check_size(int32_t handle) {
    if (wirelab_rows(handle) != ROWS || wirelab_fields(handle) != FIELDS) fail("the schema is of another game");
}

static void run_receiver(int sock, const char *schema) {
    char error[500];
    int32_t receiver = wirelab_receiver(schema, "", error, sizeof error);
    if (receiver < 0) fail(error);
    check_size(receiver);
    int32_t state[ROWS * FIELDS], expected[ROWS * FIELDS];
    uint8_t packet[PACKET_ROOM], ack[WIRELAB_ACK_ROOM];
    int states = 0, wrong = 0;
    printf("listening\n");
    fflush(stdout);
    for (int waited = 60000;; waited = 2000) { /* the first packet may take longer, in ms */
        struct pollfd ready = {.fd = sock, .events = POLLIN};
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        int arrived = poll(&ready, 1, waited);
        if (arrived < 0 && errno == EINTR) continue; /* a signal, such as those that Go's runtime sends to its threads */
        if (arrived <= 0) break;
        ssize_t size = recvfrom(sock, packet, sizeof packet, 0, (struct sockaddr *)&from, &length);
        if (size < 0) continue;
        if (wirelab_receive(receiver, now_us(), packet, (int32_t)size, state) == 1) { /* others are old or malformed */
            world(wirelab_sequence(receiver), expected);
            states++;
            wrong += memcmp(state, expected, sizeof state) != 0;
        }
        int32_t n = wirelab_make_ack(receiver, now_us(), ack, sizeof ack);
        if (n > 0) sendto(sock, ack, (size_t)n, 0, (struct sockaddr *)&from, length);
    }
    wirelab_close(receiver);
    printf("%d states, %d wrong\n", states, wrong);
}

static void run_sender(int sock, const struct sockaddr_in *to, const char *schema, int count, int64_t budget) {
    char error[500];
    int32_t sender = wirelab_sender(schema, "delta-adaptive", "", error, sizeof error);
    if (sender < 0) fail(error);
    check_size(sender);
    int32_t state[ROWS * FIELDS];
    uint8_t packet[PACKET_ROOM], ack[WIRELAB_ACK_ROOM];
    int64_t bytes = 0, start = now_us(), tick_us = 1000000 / wirelab_tick_hz(sender);
    if (budget > 0 && wirelab_set_budget(sender, budget, tick_us) < 0) fail("the budget was refused");
    for (int n = 0; n < count; n++) {
        /* Until the next tick, handle acks as they arrive; those that have arrived also if the tick is late. */
        int arrived = 1;
        for (int64_t left_us; (left_us = start + n * tick_us - now_us()) > 0 || arrived > 0;) {
            struct pollfd ready = {.fd = sock, .events = POLLIN};
            arrived = poll(&ready, 1, left_us > 0 ? (int)(left_us / 1000) : 0);
            if (arrived <= 0) continue;
            ssize_t size = recv(sock, ack, sizeof ack, 0);
            if (size > 0) wirelab_handle_ack(sender, now_us(), ack, (int32_t)size); /* a malformed ack is ignored */
        }
        world(n, state);
        int32_t size = wirelab_send(sender, now_us(), state, packet, sizeof packet);
        if (size < 0) {
            wirelab_error(sender, error, sizeof error);
            fail(error);
        }
        bytes += size;
        if (size == 0) continue; /* none is due */
        sendto(sock, packet, (size_t)size, 0, (const struct sockaddr *)to, sizeof *to); /* a lost packet is not sent again */
    }
    printf("%d states, %.1f bytes each, newest acknowledged %lld\n", count, (double)bytes / count, (long long)wirelab_acked(sender));
    wirelab_close(sender);
}

int main(int argc, char **argv) {
    if (argc < 4) fail("expected receive PORT SCHEMA, or send PORT SCHEMA N");
    if (wirelab_version() < WIRELAB_VERSION) fail("the library is older than its header");
    int sock = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (strcmp(argv[1], "receive") == 0) {
        if (bind(sock, (struct sockaddr *)&address, sizeof address) < 0) fail(strerror(errno));
        run_receiver(sock, read_file(argv[3]));
    } else {
        run_sender(sock, &address, read_file(argv[3]), argc > 4 ? atoi(argv[4]) : 10000, argc > 5 ? atoll(argv[5]) : 0);
    }
    return 0;
}
