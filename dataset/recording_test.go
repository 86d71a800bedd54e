package dataset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/testkit"
)

// made returns a recording of n frames with the given number of cubes, as raw records: cube 0 rises one
// unit per frame, the others rest.
func made(cubes, n int) []byte {
	var out []byte
	for f := range n {
		for c := range cubes {
			z := int32(102)
			if c == 0 && f >= preamble {
				z += int32(f)
			}
			for _, v := range []int32{3, 256, 256, 256, int32(100 * c), -5, z, 0} {
				out = binary.LittleEndian.AppendUint32(out, uint32(v))
			}
		}
	}
	return out
}

// with returns a copy of raw records with one value changed.
func with(raw []byte, cubes, f, c, field int, v int32) []byte {
	out := bytes.Clone(raw)
	binary.LittleEndian.PutUint32(out[((f*cubes+c)*frame.CubeFields+field)*4:], uint32(v))
	return out
}

func zipped(raw []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(raw)
	w.Close()
	return b.Bytes()
}

func zstded(raw []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(raw, nil)
}

// file writes content to a file in a temporary folder and returns its path.
func file(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// drain reads all frames of a source.
func drain(src Source) (frames int, err error) {
	var f frame.Frame
	for {
		if err := src.Next(&f); err != nil {
			return frames, err
		}
		frames++
	}
}

// Every value of a reference recording equals that of a simple decoder of the uncompressed bytes.
func TestReadsReference(t *testing.T) {
	path := testkit.DataFile(t, "cubes/charlie.bin.zst")
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := Open(t.Context(), "file:"+path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.(io.Closer).Close()
	const frameBytes = frame.WalkoffCubes * recordBytes
	var f frame.Frame
	want := make([]int32, frame.WalkoffCubes*frame.CubeFields)
	check := func(n int) {
		if err := binary.Read(bytes.NewReader(raw[n*frameBytes:]), binary.LittleEndian, want); err != nil {
			t.Fatal(err)
		}
		if !f.Equal(&frame.Frame{Table: want}) || f.Tick != uint32(n) {
			t.Fatalf("frame %d (tick %d) differs from the bytes of the file", n, f.Tick)
		}
	}
	src.Initial(&f)
	check(0)
	n := preamble
	for ; src.Next(&f) == nil; n++ {
		if !testkit.Thorough() && n%50 != 0 {
			continue
		}
		check(n)
	}
	if n != len(raw)/frameBytes {
		t.Errorf("read %d frames, expected %d", n, len(raw)/frameBytes)
	}
	got, err := describe(path, Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	if want := (info{Frames: 2837, Cubes: 901, SHA256: hex.EncodeToString(sum[:])}); got != want {
		t.Errorf("described as %+v, expected %+v", got, want)
	}
}

// All compressions of a recording give the same frames and the same digest.
func TestPackings(t *testing.T) {
	raw := made(3, 20)
	sum := sha256.Sum256(raw)
	// A skippable frame first, as pzstd writes it, and two zstd frames in a row.
	skippable := append([]byte{0x51, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7}, zstded(raw[:500])...)
	for name, content := range map[string][]byte{
		"a.bin": raw, "a.bin.gz": zipped(raw), "a.bin.zst": zstded(raw),
		"named-otherwise": zstded(raw), "also.bin": zipped(raw),
		"members.gz": append(zipped(raw[:1000]), zipped(raw[1000:])...),
		"frames.zst": append(skippable, zstded(raw[500:])...),
	} {
		got, err := describe(file(t, name, content), Options{Cubes: 3}, 0)
		if want := (info{Frames: 20, Cubes: 3, SHA256: hex.EncodeToString(sum[:])}); err != nil || got != want {
			t.Errorf("%s: %+v, %v; expected %+v", name, got, err, want)
		}
	}
}

func TestLoop(t *testing.T) {
	raw := made(3, 10) // four frames a round
	for _, name := range []string{"a.bin", "a.gz", "a.zst"} {
		content := map[string][]byte{"a.bin": raw, "a.gz": zipped(raw), "a.zst": zstded(raw)}[name]
		r, err := openRecording(t.Context(), file(t, name, content), Options{Cubes: 3, Loop: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Frames(); n != 4 && name == "a.bin" {
			t.Errorf("%s: %d frames known at the start, expected 4", name, n)
		}
		var f frame.Frame
		for i := range 14 {
			if err := r.Next(&f); err != nil {
				t.Fatal(name, err)
			}
			if want := int32(102 + 6 + i%4); f.Table[frame.CubeZ] != want {
				t.Errorf("%s: frame %d has z = %d, expected %d", name, i, f.Table[frame.CubeZ], want)
			}
			if want := i > 0 && i%4 == 0; r.AtLoopPoint() != want {
				t.Errorf("%s: frame %d: loop point %v, expected %v", name, i, r.AtLoopPoint(), want)
			}
			if f.Tick != uint32(6+i) {
				t.Errorf("%s: tick %d, expected %d", name, f.Tick, 6+i)
			}
		}
		if n := r.Frames(); n != 4 {
			t.Errorf("%s: %d frames, expected 4", name, n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Next(&f); !errors.Is(err, source.ErrClosed) {
			t.Errorf("%s: after Close: %v, expected %v", name, err, source.ErrClosed)
		}
	}
}

func TestPreamble(t *testing.T) {
	good, err := openRecording(t.Context(), file(t, "a.bin", made(3, 12)), Options{Cubes: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	if err := good.Preamble(); err != nil {
		t.Error(err)
	}
	odd, err := openRecording(t.Context(), file(t, "b.bin", with(made(3, 12), 3, 4, 1, frame.CubeA, 7)), Options{Cubes: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer odd.Close()
	err = odd.Preamble()
	if !errors.Is(err, ErrPreamble) || !strings.Contains(err.Error(), "frame 4, cube 1, field a") {
		t.Errorf("%v, expected %v in frame 4, cube 1, field a", err, ErrPreamble)
	}
	if n, err := drain(odd); n != 6 || err != io.EOF {
		t.Errorf("it plays %d frames and ends with %v, expected 6 and %v", n, err, io.EOF)
	}
}

// The digest of a recording with a bad preamble would not be that of its bytes.
func TestDescribeRefuses(t *testing.T) {
	odd := file(t, "odd.bin", with(made(3, 12), 3, 2, 0, frame.CubeX, 7))
	if got, err := describe(odd, Options{Cubes: 3}, 0); !errors.Is(err, ErrPreamble) {
		t.Errorf("an odd preamble: %+v, %v, expected %v", got, err, ErrPreamble)
	}
	for _, frames := range []int{1, preamble} {
		if got, err := describe("demo", Options{}, frames); !errors.Is(err, ErrSpec) {
			t.Errorf("%d frames: %+v, %v, expected %v", frames, got, err, ErrSpec)
		}
	}
	if got, err := describe("demo", Options{}, minFrames); err != nil || got.Frames != minFrames {
		t.Errorf("%d frames: %+v, %v", minFrames, got, err)
	}
	if _, err := describe("world", Options{}, 0); !errors.Is(err, ErrSpec) {
		t.Errorf("the world to its end: %v, expected %v", err, ErrSpec)
	}
}

// A pipe cannot be rewound. It can be played once, or repeatedly if the recording fits in memory.
func TestPipe(t *testing.T) {
	for _, most := range []int{-1, 0, 5, maxReelRows} {
		r := newRecording("pipe", frame.Cubes(3), most >= 0)
		if err := r.start(iotest.OneByteReader(bytes.NewBuffer(zstded(made(3, 12)))), -1); err != nil {
			t.Fatal(err)
		}
		if r.Loop {
			r.reel.maxRows = most
		}
		n, err := 0, error(nil)
		for f := new(frame.Frame); err == nil && n < 100; n++ {
			err = r.Next(f)
		}
		if kept := most == maxReelRows; (n == 100) != kept || (err == io.EOF) == r.Loop || !kept && n != 7 {
			t.Errorf("at most %d rows in memory: %d calls, then %v", most, n, err)
		}
	}
}

// BenchmarkNext measures reading, decompressing and checking the frames of a recording.
func BenchmarkNext(b *testing.B) {
	raw := func(b *testing.B) []byte {
		z, err := os.ReadFile(testkit.DataFile(b, "cubes/charlie.bin.zst"))
		if err != nil {
			b.Fatal(err)
		}
		d, _ := zstd.NewReader(nil)
		out, err := d.DecodeAll(z, nil)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	for _, c := range []struct {
		name string
		spec func(b *testing.B) string
	}{
		{"demo", func(*testing.B) string { return "demo" }},
		{"charlie.zst", func(b *testing.B) string { return testkit.DataFile(b, "cubes/charlie.bin.zst") }},
		{"charlie.gz", func(b *testing.B) string { return file(b, "charlie.gz", zipped(raw(b))) }},
		{"charlie raw", func(b *testing.B) string { return file(b, "charlie.bin", raw(b)) }},
		{"world", func(*testing.B) string { return "world" }},
	} {
		b.Run(c.name, func(b *testing.B) {
			src, err := Open(b.Context(), c.spec(b), Options{Loop: true})
			if err != nil {
				b.Fatal(err)
			}
			var f frame.Frame
			b.ReportAllocs()
			for b.Loop() {
				if err := src.Next(&f); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}
