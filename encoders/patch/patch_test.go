package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"wirelab/encoders/patch/delta"
	"wirelab/internal/testkit"
)

func randomBytes(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// edit returns b with bytes changed, removed, inserted and moved.
func edit(b []byte, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	out := bytes.Clone(b)
	for range len(b)/1000 + 1 {
		at := r.IntN(len(out))
		switch r.IntN(4) {
		case 0:
			out[at]++
		case 1:
			out = append(out[:at], out[min(at+r.IntN(40), len(out)):]...)
		case 2:
			out = append(out[:at:at], append(randomBytes(r.IntN(30), uint64(at)), out[at:]...)...)
		case 3:
			out = append(out, out[at:min(at+5000, len(out))]...)
		}
	}
	return out
}

func text(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d: %x\n", i, i*i*7)
	}
	return b.Bytes()[:n]
}

func mustMake(t testing.TB, old, new []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	stats, err := Make(&out, old, new, Options{})
	b := out.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if stats.Size != int64(len(b)) || stats.Raw+stats.Clone+stats.Patch != int64(len(new)) {
		t.Fatalf("%+v do not add up to %d bytes of patch for %d", stats, len(b), len(new))
	}
	return b
}

// applyBytes applies a patch and returns the bytes written, also after an error.
func applyBytes(old, patch []byte) ([]byte, error) {
	var out buffer
	_, err := applyPatch(delta.New, &out, bytes.NewReader(old), int64(len(old)), bytes.NewReader(patch), nil)
	return out.Bytes, err
}

// testPairs returns old and new files for every special case of a maker.
func testPairs() map[string][2][]byte {
	zeros, random, lines := make([]byte, 300_000), randomBytes(280_000, 1), text(60_000)
	return map[string][2][]byte{
		"both empty":       {nil, nil},
		"from nothing":     {nil, lines},
		"to nothing":       {lines, nil},
		"one byte":         {[]byte{1}, []byte{2}},
		"the same":         {random, random},
		"edited text":      {lines, edit(lines, 1)},
		"edited noise":     {random, edit(random, 2)},
		"unrelated":        {randomBytes(150_000, 3), randomBytes(150_000, 4)},
		"zeros":            {zeros, zeros[1:]},
		"zeros from noise": {random, zeros},
		"periodic":         {bytes.Repeat([]byte("abcde"), 20_000), bytes.Repeat([]byte("abcdf"), 60_000)},
		"repeats itself":   {lines[:1000], bytes.Repeat(random[:270_000], 3)},
		"swapped halves":   {random, append(bytes.Clone(random[140_000:]), random[:140_000]...)},
		"long clone":       {random, append(bytes.Clone(lines), append(bytes.Clone(random), edit(lines, 3)...)...)},
	}
}

// TestRoundTrip makes and applies patches, and checks that making is reproducible.
func TestRoundTrip(t *testing.T) {
	for name, pair := range testPairs() {
		t.Run(name, func(t *testing.T) {
			if !testkit.Thorough() && len(pair[1]) > 100_000 {
				t.Skip("takes a long file; set WIRELAB_THOROUGH=1")
			}
			patch := mustMake(t, pair[0], pair[1])
			got, err := applyBytes(pair[0], patch)
			if err != nil || !bytes.Equal(got, pair[1]) {
				t.Fatalf("%d bytes of %d came out: %v", len(got), len(pair[1]), err)
			}
			if limit := len(pair[1]) + 100 + len(pair[1])/100_000*8; len(patch) > limit {
				t.Errorf("%d bytes of patch; expected at most %d", len(patch), limit)
			}
			if len(pair[1]) < 500_000 && !bytes.Equal(patch, mustMake(t, pair[0], pair[1])) {
				t.Error("the second patch differs from the first")
			}
		})
	}
}

// TestModes checks the modes of blocks: raw for noise, clone for equal ranges, and otherwise patch.
func TestModes(t *testing.T) {
	all := testPairs()
	for name, want := range map[string]func(Stats) bool{
		"unrelated":      func(s Stats) bool { return s.Raw == 150_000 },
		"the same":       func(s Stats) bool { return s.Clone == 280_000 && s.Size < 100 },
		"edited text":    func(s Stats) bool { return s.Raw == 0 && s.Size < 8_000 },
		"repeats itself": func(s Stats) bool { return s.Size < 273_000 },
		"swapped halves": func(s Stats) bool { return s.Size < 300 },
	} {
		stats, err := Make(io.Discard, all[name][0], all[name][1], Options{})
		if err != nil || !want(stats) {
			t.Errorf("%s: %+v, %v", name, stats, err)
		}
	}
}

func TestWrongOld(t *testing.T) {
	old, other := text(1000), text(1000)
	other[999]++
	patch := mustMake(t, old, text(1500))
	for _, wrong := range [][]byte{nil, old[:999], other} {
		got, err := applyBytes(wrong, patch)
		if !errors.Is(err, ErrWrongOld) || len(got) > 0 {
			t.Errorf("%d bytes were written: %v; expected %v before any", len(got), err, ErrWrongOld)
		}
	}
}

// TestCorruptPatch checks that truncated patches and patches with a flipped bit are refused.
func TestCorruptPatch(t *testing.T) {
	old, stride := text(6000), 17
	if !testkit.Thorough() {
		stride = 131
	}
	patch := mustMake(t, old, append(edit(old, 4), randomBytes(700, 5)...))
	for n := range patch {
		if n > 80 && n%stride != 0 {
			continue
		}
		if _, err := applyBytes(old, patch[:n]); !isPatchError(err) {
			t.Fatalf("cut to %d bytes of %d: %v", n, len(patch), err)
		}
		bad := bytes.Clone(patch)
		bad[n] ^= 1 << (n % 8)
		if _, err := applyBytes(old, bad); !isPatchError(err) {
			t.Fatalf("byte %d of %d damaged: %v", n, len(patch), err)
		}
	}
	if _, err := applyBytes(old, append(bytes.Clone(patch), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("trailing byte: %v", err)
	}
}

func isPatchError(err error) bool {
	for _, kind := range []error{ErrFormat, ErrCorrupt, ErrWrongOld, ErrWrongNew} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// TestInvalidHeader checks that sizes in a patch cause neither allocations nor work.
func TestInvalidHeader(t *testing.T) {
	h := Header{NewSize: maxSize}
	h.OldHash = Hash{0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
		0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55} // of nothing
	for name, block := range map[string][]byte{
		"a raw block of 2^40":   {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01},
		"a patch block of 2^20": {0x82, 0x80, 0x80, 0x02, 5},
		"a packet too long":     {0x82, 0x01, 0x80, 0x80, 0x04},
		"a clone of nothing":    {0x81, 0x01, 0x00},
		"a clone from below":    {0x81, 0x01, 0x01},
		"an unknown mode":       {0x83, 0x01},
		"an empty block":        {0x02, 0x00},
		"a number too long":     bytes.Repeat([]byte{0xff}, 11),
	} {
		if _, err := applyBytes(nil, h.append(nil)); !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if _, err := applyBytes(nil, append(h.append(nil), block...)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFullDisk(t *testing.T) {
	old := text(100_000)
	patch := mustMake(t, old, edit(old, 6))
	_, err := applyPatch(delta.New, &buffer{Limit: 1000}, bytes.NewReader(old), int64(len(old)),
		bytes.NewReader(patch), nil)
	if !errors.Is(err, errLimit) {
		t.Error(err)
	}
}

// TestWindows compares windows, a source in files, with memory, a source in memory.
func TestWindows(t *testing.T) {
	old, new := randomBytes(200_000, 7), randomBytes(150_000, 8)
	out := buffer{Bytes: new}
	w := newWindows(bytes.NewReader(old), int64(len(old)), &out)
	r := rand.New(rand.NewPCG(9, 9))
	for range 3000 {
		size := 1 + r.IntN(len(new))
		w.setNewSize(max(int64(size), w.newSize))
		m := memory{old, new[:w.newSize]}
		at := r.Int64N(int64(len(old)) + w.newSize + 10)
		place, left := w.Locate(at)
		if p, l := m.Locate(at); p != place || l != left {
			t.Fatalf("address %d: %d, %d; expected %d, %d", at, place, left, p, l)
		}
		if left == 0 {
			continue
		}
		n := int(min(left, delta.Core-place%delta.Core))
		got, k, err := w.View(at, n)
		want, j, _ := m.View(at, n)
		if err != nil {
			t.Fatal(err)
		}
		from, to := max(j-delta.Before, 0), min(j+n+delta.After, len(want))
		if k < j-from || !bytes.Equal(got[k-(j-from):min(k+to-j, len(got))], want[from:to]) {
			t.Fatalf("address %d: the window has different bytes", at)
		}
	}
}

// TestApplyBytes checks the limit of ApplyBytes.
func TestApplyBytes(t *testing.T) {
	old, new := text(1000), text(5000)
	patch := mustMake(t, old, new)
	if got, err := ApplyBytes(old, patch, 5000); err != nil || !bytes.Equal(got, new) {
		t.Errorf("%d bytes, %v; expected %d", len(got), err, len(new))
	}
	if _, err := ApplyBytes(old, patch, 4999); err == nil {
		t.Error("no error for 5000 bytes with a limit of 4999")
	}
	if h, err := readHeader(bytes.NewReader(patch)); err != nil || h.NewSize != 5000 || h.OldSize != 1000 {
		t.Errorf("%+v, %v", h, err)
	}
}
