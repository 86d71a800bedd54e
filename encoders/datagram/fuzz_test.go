package datagram

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/testkit"
)

// smallModels returns a model without and one with acknowledged datagrams, trained on the bit-packed
// synthetic game. They contain lists, keys, bit groups and clocks.
var smallModels = sync.OnceValue(func() (m [2]*model) {
	for i := range m {
		m[i] = trainModel(new(testing.T), i == 1, synthesize(nil, "bits", 1, 40))
	}
	return m
})

// Any datagram is decoded to what was encoded, and its packet is at most one byte longer.
func FuzzRoundTrip(f *testing.F) {
	models := smallModels() // before the first input, because training exceeds the fuzzer's time limit
	for _, d := range synthesize(f, "bits", 3, 3) {
		f.Add(d, d[:40], false)
		f.Add(d[:11], append(d, d...), true)
	}
	f.Add([]byte{}, []byte{0}, true)
	f.Add(make([]byte, 3000), make([]byte, maxBytes), true)
	f.Fuzz(func(t *testing.T, before, d []byte, acked bool) {
		m := models[0]
		if acked {
			m = models[1]
		}
		enc, dec := newCodec(m, false), newCodec(m, true)
		past := []encoders.Ref{{Frame: &frame.Frame{Body: before[:min(len(before), maxDatagram)]}}}
		cur := &frame.Frame{Tick: 1, Body: d[:min(len(d), maxDatagram)]}
		packet, a, err := enc.Encode(nil, cur, past, nil, nil)
		if err != nil || len(packet) > len(cur.Body)+1 {
			t.Fatalf("%d bytes became %d: %v", len(cur.Body), len(packet), err)
		}
		got := &frame.Frame{Tick: 1}
		b, err := dec.Decode(got, packet, past, nil)
		if err != nil || !bytes.Equal(got.Body, cur.Body) {
			t.Fatalf("%x became %x: %v", cur.Body, got.Body, err)
		}
		if l, _ := a.(*ackedLog); l != nil && (len(l.records) > maxRecords || len(l.units) > maxLogUnits || !equalLogs(l, b.(*ackedLog))) {
			t.Fatalf("the memos of encoder and decoder differ or are too large: %d records", len(l.records))
		}
	})
}

// equalLogs reports whether a and b have the same records and units.
func equalLogs(a, b *ackedLog) bool {
	if len(a.records) != len(b.records) || !bytes.Equal(a.units, b.units) {
		return false
	}
	for i := range a.records {
		if a.records[i] != b.records[i] {
			return false
		}
	}
	return true
}

// Any bytes decode to a datagram of limited size or to an error.
func FuzzDecode(f *testing.F) {
	for _, d := range synthesize(f, "bits", 3, 3) {
		f.Add(newCoder(smallModels()[1], false).encode(nil, d, &ackedLog{}), d)
	}
	f.Fuzz(func(t *testing.T, packet, before []byte) {
		past := []encoders.Ref{{Frame: &frame.Frame{Body: before[:min(len(before), maxDatagram)]}}}
		for _, m := range smallModels() {
			got := &frame.Frame{Tick: 1}
			_, err := newCodec(m, true).Decode(got, packet, past, nil)
			if err != nil && !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) {
				t.Fatal(err)
			}
			if len(got.Body) > max(maxBytes, len(packet)) {
				t.Fatalf("%d bytes became %d", len(packet), len(got.Body))
			}
		}
	})
}

// withChecksum returns the bytes of a model with their checksum appended.
func withChecksum(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(data), crc32.ChecksumIEEE(data))
}

// checkModel checks that data is either rejected as a model file or gives a model that codes correctly.
func checkModel(t *testing.T, data []byte, datagrams [][]byte) {
	t.Helper()
	m, err := parseModel(data)
	if err != nil {
		if !errors.Is(err, errNotModel) && !errors.Is(err, errVersion) && !errors.Is(err, errDamaged) {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(m.Bytes(), data) {
		// Values that are not used may differ, but only in the first copy.
		again, err := parseModel(m.Bytes())
		if err != nil || !bytes.Equal(again.Bytes(), m.Bytes()) {
			t.Fatalf("the copy of a model is rejected or differs: %v", err)
		}
	}
	enc, dec := newCodec(m, false), newCodec(m, true)
	refs := []encoders.Ref{{Frame: &frame.Frame{}}}
	for i, d := range datagrams {
		cur, got := &frame.Frame{Tick: uint32(i), Body: d}, &frame.Frame{Tick: uint32(i)}
		packet, memo, _ := enc.Encode(nil, cur, refs, nil, nil)
		if _, err := dec.Decode(got, packet, refs, nil); err != nil || !bytes.Equal(got.Body, d) {
			t.Fatalf("%x became %x: %v", d, got.Body, err)
		}
		refs = []encoders.Ref{{Frame: cur, Memo: memo}}
	}
}

// Any model file is rejected or usable.
func FuzzModel(f *testing.F) {
	list := synthesize(f, "bits", 3, 4)
	for _, m := range smallModels() {
		b := m.Bytes()
		f.Add(b[:len(b)-4], uint32(0), byte(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value byte) {
		checkModel(t, data, list)
		if len(data) > 0 {
			data = bytes.Clone(data)
			data[int(at)%len(data)] ^= value
		}
		checkModel(t, withChecksum(data), list)
	})
}

// A damaged model file is rejected with an error that names the damage, or it is usable.
func TestDamagedModels(t *testing.T) {
	list := synthesize(t, "bits", 3, 3)
	for _, m := range smallModels() {
		good := m.Bytes()
		checkModel(t, good, list)
		body := good[:len(good)-4]
		rng := rand.New(rand.NewPCG(5, 6))
		tries := testkit.Choose(400, 60)
		for i := range tries {
			at := rng.IntN(len(body))
			if i < tries/2 {
				at = len(magic) + rng.IntN(2500) // where its structure is
			}
			bad := bytes.Clone(body)
			bad[at] ^= byte(1 + rng.IntN(255))
			checkModel(t, withChecksum(bad), list[:1])
			checkModel(t, withChecksum(body[:at]), list[:1])
		}
		for name, c := range map[string]struct {
			data []byte
			want error
		}{
			"empty":         {nil, errNotModel},
			"another file":  {[]byte("PK\x03\x04 and so on, and on"), errNotModel},
			"later version": {append(append([]byte(magic), version+1), good[len(magic)+1:]...), errVersion},
			"cut":           {good[:len(good)/2], errDamaged},
			"longer":        {withChecksum(append(bytes.Clone(body), 0)), errDamaged},
			"a flipped bit": {append([]byte(magic), append([]byte{version, good[len(magic)+1] ^ 1}, good[len(magic)+2:]...)...), errDamaged},
		} {
			if _, err := parseModel(c.data); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	}
}

// New rejects files that are not a model of the encoder.
func TestNewWithWrongModelFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "game.model")
	if err := os.WriteFile(path, smallModels()[1].Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Acked().New(nil, &modelParams{Model: path}); err != nil {
		t.Error(err)
	}
	if _, _, err := Datagram().New(nil, &modelParams{Model: path}); !errors.Is(err, errOtherEncoder) || !errors.Is(err, encoders.ErrParam) {
		t.Errorf("an acked model for datagram: %v", err)
	}
	if _, _, err := Datagram().New(nil, &modelParams{Model: dir}); !errors.Is(err, errNotModel) {
		t.Errorf("a folder: %v", err)
	}
	if err := os.Truncate(path, maxFile+1); err != nil {
		t.Fatal(err)
	}
	want := path + " has 16777217 bytes, expected at most 16777216"
	if _, _, err := Datagram().New(nil, &modelParams{Model: path}); !errors.Is(err, errNotModel) || !strings.Contains(err.Error(), want) {
		t.Errorf("a file that is too large: %v, want %q", err, want)
	}
	if _, _, err := Datagram().New(nil, &modelParams{Model: path + "x"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
