package endpoint

import (
	"bytes"
	"testing"
)

func TestUnwrap(t *testing.T) {
	for _, newest := range []uint64{0, 1, 100, maxBehind, 65_535, 65_536, 1 << 20, 1<<40 + 12345} {
		for d := -int64(maxBehind); d < 1<<16-maxBehind; d += 7 {
			want := newest + uint64(d)
			if d < 0 && uint64(-d) > newest { // no sequence number is negative
				want += 1 << 16
			}
			if got := unwrap(newest, uint16(want)); got != want {
				t.Fatalf("newest %d: sequence %d unwrapped as %d", newest, want, got)
			}
		}
	}
}

func TestUnwrapEpoch(t *testing.T) {
	for _, newest := range []uint64{0, 5, 127, 128, 255, 256, 1000, 1 << 33} {
		for d := int64(-StoredEpochs); d < 256-StoredEpochs; d++ {
			if d < 0 && uint64(-d) > newest {
				continue
			}
			want := newest + uint64(d)
			if got := unwrapEpoch(newest, uint8(want)); got != want {
				t.Fatalf("newest %d: epoch %d unwrapped as %d", newest, want, got)
			}
		}
	}
}

func TestHeaderGolden(t *testing.T) {
	h := header{seq: 0x1234, baseline: 6, second: 7, codec: 9, epoch: 3, params: []byte("a=1"), hasParams: true, twoRefs: true}
	want := []byte{0x34, 0x12, 6, 9 | 0x80, 3, 7, 3, 'a', '=', '1'}
	if got := h.append(nil); !bytes.Equal(got, want) {
		t.Errorf("got % x, want % x", got, want)
	}
	back, payload, err := parseHeader(append(want, 0xaa), func(uint8) int { return 2 })
	if err != nil || !bytes.Equal(payload, []byte{0xaa}) || back.seq != h.seq || back.second != 7 || back.epoch != 3 ||
		back.codec != 9 || string(back.params) != "a=1" {
		t.Errorf("got %+v, payload % x, %v", back, payload, err)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte{}, 1)
	f.Add([]byte{1, 2, 3, 0x84, 5, 3, 'x', 'y', 'z', 9}, 1)
	f.Add([]byte{1, 2, 3, 0x84, 5, 6, 255}, 2)
	f.Add([]byte{1, 2, 0, 0x84, 5, 1, 'x'}, 1)
	f.Fuzz(func(t *testing.T, data []byte, refs int) {
		count := func(uint8) int { return refs }
		h, payload, err := parseHeader(data, count)
		if err != nil {
			return
		}
		again := append(h.append(nil), payload...)
		if !bytes.Equal(again, data) {
			t.Errorf("% x was read as %+v and written as % x", data, h, again)
		}
	})
}

func FuzzAck(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := parseAck(data)
		if err != nil {
			return
		}
		if again := a.append(nil); !bytes.Equal(again, data) {
			t.Errorf("% x was read as %+v and written as % x", data, a, again)
		}
	})
}
