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

// smallModels are a stateless and an acked model of the made-up game in which numbers have
// no regard to bytes: lists, keys, groups of bits and clocks are in it.
var smallModels = sync.OnceValue(func() (m [2]*model) {
	for i := range m {
		m[i] = learn(new(testing.T), i == 1, made(nil, "bits", 1, 40))
	}
	return m
})

// Anything is coded and comes back, and takes at most a byte more than it is.
func FuzzRoundTrip(f *testing.F) {
	models := smallModels() // now: learning takes longer than an input may
	for _, d := range made(f, "bits", 3, 3) {
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
		enc, dec := newEnd(m, false), newEnd(m, true)
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
		if l, _ := a.(*log); l != nil && (len(l.records) > maxRecords || len(l.units) > maxLogged || !equal(l, b.(*log))) {
			t.Fatalf("the two ends remember different things, or too much: %d records", len(l.records))
		}
	})
}

func equal(a, b *log) bool {
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

// Any bytes are decoded, to a datagram of bounded size or to an error.
func FuzzDecode(f *testing.F) {
	for _, d := range made(f, "bits", 3, 3) {
		f.Add(newCoder(smallModels()[1], false).encode(nil, d, &log{}), d)
	}
	f.Fuzz(func(t *testing.T, packet, before []byte) {
		past := []encoders.Ref{{Frame: &frame.Frame{Body: before[:min(len(before), maxDatagram)]}}}
		for _, m := range smallModels() {
			got := &frame.Frame{Tick: 1}
			_, err := newEnd(m, true).Decode(got, packet, past, nil)
			if err != nil && !errors.Is(err, encoders.ErrCorrupt) && !errors.Is(err, encoders.ErrTruncated) {
				t.Fatal(err)
			}
			if len(got.Body) > max(maxBytes, len(packet)) {
				t.Fatalf("%d bytes became %d", len(packet), len(got.Body))
			}
		}
	})
}

// sealed puts a right checksum on the bytes of a model.
func sealed(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(data), crc32.ChecksumIEEE(data))
}

// tryModel codes with what bytes claim to be a model: it is refused, or as good as any.
func tryModel(t *testing.T, data []byte, datagrams [][]byte) {
	t.Helper()
	m, err := parseModel(data)
	if err != nil {
		if !errors.Is(err, errNoModel) && !errors.Is(err, errVersion) && !errors.Is(err, errDamaged) {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(m.Bytes(), data) {
		// Fields of what is not used may hold anything; written again they hold still.
		again, err := parseModel(m.Bytes())
		if err != nil || !bytes.Equal(again.Bytes(), m.Bytes()) {
			t.Fatalf("written again it is refused: %v", err)
		}
	}
	enc, dec := newEnd(m, false), newEnd(m, true)
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

// A model's file may hold anything.
func FuzzModel(f *testing.F) {
	list := made(f, "bits", 3, 4)
	for _, m := range smallModels() {
		b := m.Bytes()
		f.Add(b[:len(b)-4], uint32(0), byte(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, value byte) {
		tryModel(t, data, list)
		if len(data) > 0 {
			data = bytes.Clone(data)
			data[int(at)%len(data)] ^= value
		}
		tryModel(t, sealed(data), list)
	})
}

// Every kind of damage to a model's file is refused with an error that says so, or harms
// nothing.
func TestHostileModels(t *testing.T) {
	list := made(t, "bits", 3, 3)
	for _, m := range smallModels() {
		good := m.Bytes()
		tryModel(t, good, list)
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
			tryModel(t, sealed(bad), list[:1])
			tryModel(t, sealed(body[:at]), list[:1])
		}
		for name, c := range map[string]struct {
			data []byte
			want error
		}{
			"empty":         {nil, errNoModel},
			"another file":  {[]byte("PK\x03\x04 and so on, and on"), errNoModel},
			"later version": {append(append([]byte(magic), version+1), good[len(magic)+1:]...), errVersion},
			"cut":           {good[:len(good)/2], errDamaged},
			"longer":        {sealed(append(bytes.Clone(body), 0)), errDamaged},
			"a flipped bit": {append([]byte(magic), append([]byte{version, good[len(magic)+1] ^ 1}, good[len(magic)+2:]...)...), errDamaged},
		} {
			if _, err := parseModel(c.data); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	}
}

// What is no file of the right model is refused when an encoder is made.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "game.model")
	if err := os.WriteFile(path, smallModels()[1].Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Acked().New(nil, &modelParams{Model: path}); err != nil {
		t.Error(err)
	}
	if _, _, err := Datagram().New(nil, &modelParams{Model: path}); !errors.Is(err, errOther) || !errors.Is(err, encoders.ErrParam) {
		t.Errorf("an acked model for datagram: %v", err)
	}
	if _, _, err := Datagram().New(nil, &modelParams{Model: dir}); !errors.Is(err, errNoModel) {
		t.Errorf("a folder: %v", err)
	}
	if err := os.Truncate(path, maxFile+1); err != nil {
		t.Fatal(err)
	}
	want := path + " has 16777217 bytes, expected at most 16777216"
	if _, _, err := Datagram().New(nil, &modelParams{Model: path}); !errors.Is(err, errNoModel) || !strings.Contains(err.Error(), want) {
		t.Errorf("a file that is too large: %v, want %q", err, want)
	}
	if _, _, err := Datagram().New(nil, &modelParams{Model: path + "x"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
