/* wirelab_endpoint.h: sender and receiver of game state, for games in any language. README.md describes how to build the
 * library. Not to be confused with encoders/plugin/wirelab.h, the contract for encoders of your own.
 *
 * A state is a table of int32, row by row, as a schema in TOML describes it: rows of players, vehicles or anything else, each
 * with the same fields. The schema's format is described in dataset/table/README.md. Values are in steps of their field.
 *
 *   server, on each tick                          client, on each datagram
 *     wirelab_handle_ack for each ack that came     wirelab_receive; 1: draw the state
 *     wirelab_send, transmit the packet             wirelab_make_ack, transmit the ack
 *
 * Each packet is encoded relative to a state that the client has acknowledged, so packets and acks may be lost, reordered and
 * duplicated. Nothing waits: the library opens no sockets, reads no clock and starts no threads of its own besides those of
 * Go's runtime. A server creates one sender for each client. Both ends need the same schema and the same version of the
 * library; they begin with a state of zeros, or of the valid values that are nearest to zero.
 *
 * Handles are positive numbers. Ends share nothing: no settings and no errors. All functions may be called from any thread;
 * calls for one handle wait for each other.
 *
 * Errors are negative numbers, enum wirelab_code. wirelab_error returns the text of a handle's last error; the functions that
 * create a handle write it to a buffer. Texts end with a zero byte and are UTF-8. Packets and acks may have any content.
 *
 * Functions are only added, and none is changed: WIRELAB_VERSION counts the additions.
 */
#ifndef WIRELAB_ENDPOINT_H
#define WIRELAB_ENDPOINT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIRELAB_VERSION 2

#define WIRELAB_PACKET_ROOM 65507 /* size of the largest packet; larger than 1200 bytes are fragmented by IP */
#define WIRELAB_ACK_ROOM 256      /* size of the largest ack, now and in later versions */

enum wirelab_code {
    WIRELAB_BAD_HANDLE = -1,      /* closed, never returned, or of the other kind of end */
    WIRELAB_BAD_ARGUMENT = -2,    /* a null pointer, a negative size, an unknown option or field, a budget that is too small */
    WIRELAB_BAD_SCHEMA = -3,      /* the text names the line and the key */
    WIRELAB_BAD_ENCODER = -4,     /* unknown, not for this schema, or with wrong parameters */
    WIRELAB_BAD_VALUE = -5,       /* a value of the state is outside of the range of its field */
    WIRELAB_NO_ROOM = -6,         /* the packet or ack is larger than the buffer; a packet then counts as lost */
    WIRELAB_CORRUPT = -7,         /* a malformed datagram, which is ignored */
    WIRELAB_NO_BASELINE = -8,     /* the packet refers to a state that has not arrived; it is ignored */
    WIRELAB_UNKNOWN_ENCODER = -9, /* the packet is of an encoder that this version does not have, or of unknown parameters */
    WIRELAB_FAILED = -10          /* anything else: a fault of the library */
};

/* Returns the version of the library, to be compared with WIRELAB_VERSION: it must be at least as large. */
int32_t wirelab_version(void);

/* Creates a sender for one client, and returns its handle or an error, whose text is then written to the error_room bytes at
 * error, which may be null. schema is a text in TOML. encoder is the name of an encoder, parameters may follow: "delta-adaptive"
 * (also "" or null), "xor-rle", "deflate", "zstd", "zstd-baseline level=3". options is "" or null, or settings
 * separated by spaces:
 *   history=64     states that each end stores, 1 to 255; references older than these are lost */
int32_t wirelab_sender(const char *schema, const char *encoder, const char *options, char *error, int32_t error_room);

/* Creates a receiver, like wirelab_sender. It decodes the packets of any encoder. Parameters are in the packets, which decide
 * how much memory it takes: with delta-adaptive memory=4096 about 1 MB for each state of the history. */
int32_t wirelab_receiver(const char *schema, const char *options, char *error, int32_t error_room);

/* Frees a sender or receiver. Its handle is then invalid. */
int32_t wirelab_close(int32_t handle);

/* Return the numbers of the schema: rows, fields per row, and states per second. A state has rows x fields values. */
int32_t wirelab_rows(int32_t handle);
int32_t wirelab_fields(int32_t handle);
int32_t wirelab_tick_hz(int32_t handle);

/* Returns the index of a field. */
int32_t wirelab_field(int32_t handle, const char *name);

/* Returns the size of a field's step in its unit: a value v stands for v * step. Not for fields of kind float32, whose values
 * are the bits of a float. */
double wirelab_step(int32_t handle, int32_t field);

/* Sender: encodes a state into the room bytes at packet. now_us is a time in microseconds from any origin that never falls.
 * Returns the size of the packet to transmit; 0 if none is due. */
int32_t wirelab_send(int32_t handle, int64_t now_us, const int32_t *state, uint8_t *packet, int32_t room);

/* Sender: limits packets to bits_per_second, without the headers of IP and UDP; 0 removes the limit. A packet then contains the
 * rows that fit, those that the client shows most wrongly first, and the state of wirelab_receive has other rows as they were.
 * No 100 ms exceed the budget. interval_us, 1000 to 10000000, is the time between two calls of wirelab_send. Takes effect with
 * the next packets: until then, up to a round trip, wirelab_send may return larger packets or 0. Not with deflate
 * and zstd, which encode whole states. Returns 0. Since version 2. */
int32_t wirelab_set_budget(int32_t handle, int64_t bits_per_second, int64_t interval_us);

/* Sender: handles an ack that arrived at now_us. Returns 0, also for old and duplicate acks. */
int32_t wirelab_handle_ack(int32_t handle, int64_t now_us, const uint8_t *ack, int32_t size);

/* Receiver: handles a packet that arrived at now_us. Returns 1 if it wrote a newer state, and 0 if the packet was a duplicate
 * or older than the newest, and the state is unchanged. With a budget also an older packet may bring rows. */
int32_t wirelab_receive(int32_t handle, int64_t now_us, const uint8_t *packet, int32_t size, int32_t *state);

/* Receiver: writes an ack for all packets so far to the room bytes at ack, and returns its size. One for each packet, or one
 * for a few: the fewer, the older the references. */
int32_t wirelab_make_ack(int32_t handle, int64_t now_us, uint8_t *ack, int32_t room);

/* Returns the number of the newest packet, from 0: the last that a sender sent, the newest state of a receiver; -1 if none.
 * Packets have 16 bits of it: a receiver that is created later counts from what it receives first. */
int64_t wirelab_sequence(int32_t handle);

/* Sender: returns the number of the newest packet that the receiver has acknowledged; -1 if none. */
int64_t wirelab_acked(int32_t handle);

/* Writes the text of the handle's last error to the room bytes at text, shortened if necessary. Returns its whole length. */
int32_t wirelab_error(int32_t handle, char *text, int32_t room);

#ifdef __cplusplus
}
#endif

#endif
