package patch

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// degenerateInputs returns pairs of files of n bytes on which matching is slow in other tools.
func degenerateInputs(n int) map[string][2][]byte {
	random, lines := randomBytes(n, 1), text(n)
	periods := make([]byte, 0, n)
	for p := 1; len(periods) < n; p = p*3/2 + 1 {
		periods = append(periods, bytes.Repeat(randomBytes(p%5000+1, uint64(p)), 1+n/20/(p%5000+1))...)
	}
	periods = periods[:n]
	runs := make([]byte, n)
	for i := 0; i < n; i += n / 7 {
		for j := i; j < min(i+n/7, n); j++ {
			runs[j] = byte(i)
		}
	}
	backwards := bytes.Clone(lines)
	slices.Reverse(backwards)
	shuffled := make([]byte, 0, n)
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n / 5000) {
		shuffled = append(shuffled, random[i*5000:(i+1)*5000]...)
	}
	return map[string][2][]byte{
		"usual":          {lines, edit(lines, 1)},
		"zeros":          {make([]byte, n), make([]byte, n-1)},
		"zeros, spoilt":  {make([]byte, n), withChanges(make([]byte, n))},
		"periodic":       {bytes.Repeat([]byte("abc"), n/3), bytes.Repeat([]byte("abcabd"), n/6)},
		"many periods":   {periods, withChanges(append(bytes.Clone(periods[n/3:]), periods[:n/3]...))},
		"huge runs":      {runs, withChanges(append(bytes.Clone(runs[n/2:]), runs[:n/2]...))},
		"random":         {random, randomBytes(n, 2)},
		"random, spoilt": {random, withChanges(random)},
		"reversed":       {lines, backwards},
		"shuffled":       {random, shuffled},
		"identical":      {random, random},
		"from nothing":   {nil, lines},
	}
}

// withChanges returns b with some bytes changed.
func withChanges(b []byte) []byte {
	out := bytes.Clone(b)
	r := rand.New(rand.NewPCG(3, 3))
	for range len(b) / 400 {
		out[r.IntN(len(out))] ^= byte(1 + r.IntN(255))
	}
	return out
}

// BenchmarkDegenerate measures the time per byte on inputs that are bad for matching, and on an ordinary one
// for comparison.
func BenchmarkDegenerate(b *testing.B) {
	const n = 3 << 20
	for name, pair := range degenerateInputs(n) {
		var patch []byte
		b.Run("make/"+name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				patch = mustMake(b, pair[0], pair[1])
			}
			b.ReportMetric(float64(len(patch)), "bytes")
		})
		b.Run("apply/"+name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				if got, err := applyBytes(pair[0], patch); err != nil || !bytes.Equal(got, pair[1]) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOrder measures what another order of blocks could save. A file of code and text, half of it new,
// with shuffled blocks is coded as it is, and in the order of the old file, which is close to the best order.
// The difference is about the most that a table of the order could save.
func BenchmarkOrder(b *testing.B) {
	const block, count = 256 << 10, 16
	var old []byte
	for i := range count {
		part := randomBytes(block, uint64(i+10))
		if i%2 == 0 {
			part = text(block * (i + 1))[block*i:]
		}
		old = append(old, part...)
	}
	sorted := withChanges(old)
	var shuffled []byte
	for _, i := range rand.New(rand.NewPCG(5, 5)).Perm(count) {
		shuffled = append(shuffled, sorted[i*block:(i+1)*block]...)
	}
	for name, new := range map[string][]byte{"as it stands": shuffled, "in the order of the old file": sorted} {
		b.Run(name, func(b *testing.B) {
			var patch []byte
			for b.Loop() {
				patch = mustMake(b, old, new)
			}
			b.ReportMetric(float64(len(patch)), "bytes")
		})
	}
}

// BenchmarkPairs measures the size of patches and the time per byte on the pairs of real files of TestPairs.
func BenchmarkPairs(b *testing.B) {
	for name := range bsdiff {
		archive := filepath.Join("../../../shared/data/pairs", name+".tar.zst")
		if _, err := os.Stat(archive); err != nil {
			b.Skip(err)
		}
		dir := b.TempDir()
		readPair(b, archive, dir)
		old, new, patch, out := filepath.Join(dir, "old"), filepath.Join(dir, "new"), filepath.Join(dir, "patch"), filepath.Join(dir, "out")
		info, err := os.Stat(new)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("make/"+name, func(b *testing.B) {
			b.SetBytes(info.Size())
			var stats Stats
			for b.Loop() {
				if stats, err = MakeFile(old, new, patch, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(stats.Size), "bytes")
		})
		b.Run("apply/"+name, func(b *testing.B) {
			b.SetBytes(info.Size())
			for b.Loop() {
				if _, err := ApplyFile(nil, old, patch, out, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
