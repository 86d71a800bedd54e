package rpc

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"wirelab/dataset/frame"
)

// play calls see with every call of a stream and the call before.
func play(seed uint64, n int, see func(i int, was, now []int32)) {
	src := open(seed)
	a, b := src.Schema().NewFrame(), src.Schema().NewFrame()
	src.Initial(a)
	for i := range n {
		_ = src.Next(b)
		see(i, a.Table, b.Table)
		a, b = b, a
	}
}

func value(row []int32, at int) float64 { return float64(math.Float32frombits(uint32(row[at]))) }

func TestSchema(t *testing.T) {
	s := newSchema()
	if len(s.Fields) != numFields || s.Rows != 1 || s.Item != "call" {
		t.Fatalf("%d fields, %d rows of %q", len(s.Fields), s.Rows, s.Item)
	}
	for at, name := range map[int]string{colTime: "time", colPosition: "position-x", colVelocity: "velocity-x", colAcceleration: "acceleration-x",
		colRotation: "rotation-p", colSpin: "spin-p", colMode: "mode", colButtons: "jump", colBase: "base"} {
		if s.Fields[at].Name != name {
			t.Errorf("field %d is %s, want %s", at, s.Fields[at].Name, name)
		}
	}
}

// Every call is within its schema, finite, and inside the world. Position is the integral of
// velocity and rotation that of spin, except for teleports, landings and the wrap of angles.
func TestMotionIsConsistent(t *testing.T) {
	s := newSchema()
	odd, n := 0, 20_000
	modes, still := map[int32]int{}, 0
	play(11, n, func(i int, was, now []int32) {
		if err := s.Check(&frame.Frame{Table: now}); err != nil {
			t.Fatal(err)
		}
		for at := colPosition; at < colMode; at++ {
			if v := value(now, at); math.IsNaN(v) || math.Abs(v) > 1e6 {
				t.Fatalf("call %d: %s is %v", i, s.Fields[at].Name, v)
			}
		}
		modes[now[colMode]]++
		if i == 0 {
			return
		}
		dt := float64(uint32(now[colTime])-uint32(was[colTime])) / 1e6
		if dt < 0.0163 || dt > 0.03 {
			t.Fatalf("call %d is %v s after the call before", i, dt)
		}
		off := 0.0
		for c := range 3 {
			mean := (value(was, colVelocity+c) + value(now, colVelocity+c)) / 2
			off = max(off, math.Abs(value(now, colPosition+c)-value(was, colPosition+c)-mean*dt))
		}
		if off > 0.1 {
			odd++
		}
		if value(now, colVelocity) == 0 && value(now, colVelocity+1) == 0 {
			still++
		}
	})
	if odd > n/50 {
		t.Errorf("in %d of %d calls the position is not where the velocity leads", odd, n)
	}
	if still < n/50 || still > n/2 || modes[walking] < n/2 || modes[falling] < n/200 || modes[driving] < n/100 {
		t.Errorf("of %d calls %d stand still; modes %v", n, still, modes)
	}
}

// The same seed gives the same calls on every machine, other seeds give others.
func TestGoldenDigest(t *testing.T) {
	sum := func(seed uint64) string {
		h := sha256.New()
		play(seed, 3000, func(_ int, _, now []int32) { _ = binary.Write(h, binary.LittleEndian, now) })
		return fmt.Sprintf("%x", h.Sum(nil)[:8])
	}
	if got := sum(7); got != golden {
		t.Errorf("seed 7 gives %s, want %s", got, golden)
	}
	if sum(8) == golden {
		t.Error("seed 8 gives what seed 7 does")
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	src := open(1)
	f := src.Schema().NewFrame()
	if n := testing.AllocsPerRun(1000, func() { _ = src.Next(f) }); n != 0 {
		t.Errorf("%v allocations a call, want none", n)
	}
}

// The sine agrees with math.Sin.
func TestSine(t *testing.T) {
	for d := -400.0; d <= 400; d += 0.37 {
		if got, want := sine(d), math.Sin(d*math.Pi/180); math.Abs(got-want) > 1e-12 {
			t.Errorf("sine of %v is %v, want %v", d, got, want)
		}
	}
}

// golden is the digest of 3000 calls with seed 7.
const golden = "efe3a1f7d3809c99"
