"""errors.py LIBRARY SCHEMA: checks the codes and texts of errors, and that any datagram is accepted."""
import ctypes
import random
import sys
import threading

lib, schema = ctypes.CDLL(sys.argv[1]), open(sys.argv[2], "rb").read()
for name in ("sequence", "acked"):
    getattr(lib, "wirelab_" + name).restype = ctypes.c_int64
lib.wirelab_step.restype = ctypes.c_double
now = ctypes.c_int64(0)
text = ctypes.create_string_buffer(300)
state, packet, ack = (ctypes.c_int32 * 160)(), ctypes.create_string_buffer(4096), ctypes.create_string_buffer(256)


def expect(got, code, words=b""):
    assert got == code and words in text.value, (got, code, text.value, words)


def of(handle, got, code, words):
    lib.wirelab_error(handle, text, 300)
    expect(got, code, words)


def refused(code, words, schema=schema, encoder=b"", options=b""):
    expect(lib.wirelab_sender(schema, encoder, options, text, 300), code, words)


refused(-3, b"schema:1", schema=b"rows = nonsense")
refused(-3, b"schema", schema=None)
refused(-3, b"rows", schema=schema.replace(b"rows = 40", b'rows = "auto"\nkey = "id"\nframe = "tick"'))
refused(-4, b"rotor", encoder=b"rotor")
refused(-4, b"zstd-baseline", encoder=b"rotor")
refused(-4, b"level", encoder=b"zstd level=99")
refused(-4, b"no name", encoder=b" ")
refused(-2, b"history=256", options=b"history=256")
refused(-2, b"history=256", options=b"history=256")
refused(-2, b"nonsense", options=b"history=8 nonsense")
expect(lib.wirelab_sender(b"rows = 0", None, None, None, 0), -3)
assert lib.wirelab_sender(b"rows = 0", None, None, text, 5) == -3 and len(text.value) == 4  # shortened
for room in range(1, 60):  # also within a character
    assert lib.wirelab_sender("\u00e4\u00f6\u00fc\u20ac = 1".encode(), None, None, text, room) == -3
    assert len(text.value) < room and len(text.value.decode()) >= (room - 3) // 3

sender = lib.wirelab_sender(schema, None, b"history=8", text, 300)
receiver = lib.wirelab_receiver(schema, b"history=8", text, 300)
assert sender > 0 and receiver > 0 and sender != receiver
assert (lib.wirelab_rows(sender), lib.wirelab_fields(receiver), lib.wirelab_tick_hz(sender)) == (40, 4, 1000)
assert lib.wirelab_field(sender, b"heading") == 2 and lib.wirelab_step(sender, 0) == 0.01
assert lib.wirelab_sequence(sender) == lib.wirelab_sequence(receiver) == lib.wirelab_acked(sender) == -1
of(sender, lib.wirelab_field(sender, b"speed"), -2, b"speed")
of(sender, lib.wirelab_step(sender, 4), -2, b"0 to 3")
of(receiver, lib.wirelab_send(receiver, now, state, packet, 4096), -1, b"expected a sender")
of(sender, lib.wirelab_receive(sender, now, packet, 10, state), -1, b"expected a receiver")
of(sender, lib.wirelab_send(sender, now, None, packet, 4096), -2, b"state is null")
of(sender, lib.wirelab_send(sender, now, state, packet, -1), -2, b"negative size")
state[0] = 65536
of(sender, lib.wirelab_send(sender, now, state, packet, 4096), -5, b"field x")
state[0] = 1234
of(sender, lib.wirelab_send(sender, now, state, packet, 2), -6, b"room")
size = lib.wirelab_send(sender, now, state, packet, 4096)
assert size > 0 and lib.wirelab_sequence(sender) == 1
got = (ctypes.c_int32 * 160)()
assert lib.wirelab_receive(receiver, now, packet, size, got) == 1 and got[0] == 1234
assert lib.wirelab_receive(receiver, now, packet, size, got) == 0  # a duplicate
of(receiver, lib.wirelab_make_ack(receiver, now, ack, 3), -6, b"room")
size = lib.wirelab_make_ack(receiver, now, ack, 256)
assert lib.wirelab_handle_ack(sender, now, ack, size) == 0 and lib.wirelab_acked(sender) == 1
of(sender, lib.wirelab_handle_ack(sender, now, b"x", 1), -7, b"malformed")

random.seed(1)


def damaged(data):
    """Returns a datagram with some bytes changed, which may be shorter or longer."""
    data = bytearray(data)
    for _ in range(random.randrange(4) if data else 0):
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data[:random.randrange(len(data) + 1)] if random.randrange(4) == 0 else data + random.randbytes(random.randrange(2)))


for encoder in (b"delta-adaptive", b"xor-rle", b"deflate", b"zstd", b"zstd-baseline"):  # any datagram
    a = lib.wirelab_sender(schema, encoder, b"history=8", text, 300)
    assert a > 0, text.value
    for i in range(600):
        state[i % 40 * 4] = i
        size = lib.wirelab_send(a, now, state, packet, 4096)
        assert size > 0
        for data in packet.raw[:size], damaged(packet.raw[:size]), random.randbytes(random.randrange(60)):
            assert lib.wirelab_receive(receiver, now, data, len(data), got) in (1, 0, -7, -8, -9)
        size = lib.wirelab_make_ack(receiver, now, ack, 256)
        assert size >= 0
        for data in damaged(ack.raw[:size]), ack.raw[:size], random.randbytes(random.randrange(60)):
            assert lib.wirelab_handle_ack(a, now, data, len(data)) in (0, -7)
    assert lib.wirelab_close(a) == 0


def deliver(a, b, n, loss):
    """Sends n states, in which all rows jump, each 20 ms, and returns the sizes of the packets."""
    sizes = []
    for i in range(n):
        for row in range(40):
            state[4 * row] = random.randrange(65536)
        sizes.append(tick(a, b, loss))
    return sizes


def tick(a, b, loss):
    """Sends a state, of which packet and ack are lost with a probability, and returns the size of the packet."""
    now.value += 20000
    size = lib.wirelab_send(a, now, state, packet, 4096)
    assert size >= 0
    if size > 0 and random.random() >= loss:
        assert lib.wirelab_receive(b, now, packet, size, got) == 1
        n = lib.wirelab_make_ack(b, now, ack, 256)
        if random.random() >= loss:
            assert lib.wirelab_handle_ack(a, now, ack, n) == 0
    return size


a, b = lib.wirelab_sender(schema, None, None, text, 300), lib.wirelab_receiver(schema, None, text, 300)  # a budget
interval = ctypes.c_int64(20000)
of(b, lib.wirelab_set_budget(b, ctypes.c_int64(64000), interval), -1, b"expected a sender")
of(a, lib.wirelab_set_budget(a, ctypes.c_int64(-1), interval), -2, b"expected 0 to")
for encoder in b"deflate", b"zstd level=3":
    whole = lib.wirelab_sender(schema, encoder, None, text, 300)
    of(whole, lib.wirelab_set_budget(whole, ctypes.c_int64(64000), interval), -2, b"encodes whole states")
    assert lib.wirelab_set_budget(whole, ctypes.c_int64(0), interval) == 0 == lib.wirelab_close(whole)
of(a, lib.wirelab_set_budget(a, ctypes.c_int64(100), interval), -2, b"at most 1 bytes")
free = deliver(a, b, 100, 0.2)
assert lib.wirelab_set_budget(a, ctypes.c_int64(16000), interval) == 0
deliver(a, b, 20, 0.2)  # the budget begins within 100 ms
limited = deliver(a, b, 200, 0.2)
assert max(sum(limited[i:i + 5]) for i in range(195)) <= 200 < min(sum(free[i:i + 5]) for i in range(95)), (free, limited)
for _ in range(100):  # nothing moves: all rows become right
    tick(a, b, 0.2)
assert bytes(got) == bytes(state)
assert lib.wirelab_set_budget(a, ctypes.c_int64(0), interval) == 0
deliver(a, b, 20, 0)
assert bytes(got) == bytes(state) and lib.wirelab_close(a) == lib.wirelab_close(b) == 0


def use(results):
    """Exchanges states between a sender and a receiver of its own."""
    a, b = lib.wirelab_sender(schema, None, None, None, 0), lib.wirelab_receiver(schema, None, None, 0)
    state, got, packet, ack = (ctypes.c_int32 * 160)(), (ctypes.c_int32 * 160)(), ctypes.create_string_buffer(4096), ctypes.create_string_buffer(256)
    for i in range(500):
        state[i % 160 // 4 * 4] = i
        lib.wirelab_receive(b, now, packet, lib.wirelab_send(a, now, state, packet, 4096), got)
        lib.wirelab_handle_ack(a, now, ack, lib.wirelab_make_ack(b, now, ack, 256))
    results.append(bytes(got) == bytes(state) and lib.wirelab_close(a) == lib.wirelab_close(b) == 0)


results = []
threads = [threading.Thread(target=use, args=(results,)) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert results == [True] * 4


def share(handle, codes):
    """Uses a handle as other threads do, until it is closed."""
    state, packet = (ctypes.c_int32 * 160)(), ctypes.create_string_buffer(4096)
    while (size := lib.wirelab_send(handle, now, state, packet, 4096)) > 0:
        lib.wirelab_handle_ack(handle, now, packet, size)
    codes.append(size)


for _ in range(10):
    shared, codes = lib.wirelab_sender(schema, None, None, None, 0), []
    threads = [threading.Thread(target=share, args=(shared, codes)) for _ in range(4)]
    for t in threads:
        t.start()
    while lib.wirelab_sequence(shared) < 50:
        pass
    assert lib.wirelab_close(shared) == 0
    for t in threads:
        t.join()
    assert codes == [-1] * 4
assert lib.wirelab_close(sender) == 0 and lib.wirelab_close(sender) == -1 and lib.wirelab_rows(sender) == -1 and lib.wirelab_error(0, text, 300) == -1
print("ok")
