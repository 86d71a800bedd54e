package patch

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the patch in testdata again")

// callProgram returns code with n calls and a table of pointers to their targets; the upper half of the
// targets is shifted by shift bytes.
func callProgram(n, shift int) []byte {
	moved := func(i int) int { return i*96 + i/(n/2)*shift }
	b := make([]byte, n*96+shift)
	for i := range n {
		at := b[moved(i):]
		at[0] = 0xE8
		to := moved(i * 7919 % n)
		binary.LittleEndian.PutUint32(at[1:], uint32(to-moved(i)-5))
		copy(at[5:], randomBytes(80, uint64(i)))
	}
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(0x400000+moved(i*31%n)))
	}
	return b
}

// parabolaTable returns a table of n 16-bit numbers that change slowly: a repeated parabola of some height.
func parabolaTable(n, height int) (b []byte) {
	for i := range n {
		x := i % 200
		b = binary.LittleEndian.AppendUint16(b, uint16(height*x*(200-x)/100))
	}
	return b
}

// TestPortable applies a stored patch, which was made on amd64, and compares the result. It has been run with
// GOARCH=386, with GOAMD64=v3, which fuses products, and on arm64 with qemu-aarch64-static. The patch contains
// moved code, pointers, numbers, text and noise, in all modes. If it fails, the format has changed and needs a
// new version; only then write the patch again with -update.
func TestPortable(t *testing.T) {
	lines := text(12_000)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	kept := randomBytes(300_000, 21)
	old := join(kept, callProgram(200, 0), parabolaTable(20_000, 3), lines)
	new := join(kept, callProgram(200, 64), parabolaTable(20_000, 4), edit(lines, 5), text(16_000)[12_000:])
	file := filepath.Join("testdata", "mixing.patch")
	if *update {
		if err := os.WriteFile(file, mustMake(t, old, new), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	patch, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := applyBytes(old, patch); err != nil || !bytes.Equal(got, new) {
		t.Errorf("the result differs from the new file: %v", err)
	}
}
