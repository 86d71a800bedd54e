package world

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/dataset/source"
	"wirelab/internal/testkit"
)

// start opens the world with a script and seed 1.
func start(t testing.TB, script string) *liveSource {
	t.Helper()
	src, err := open(script, 1)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// awakeCubes counts the cubes that are awake.
func awakeCubes(s *sim) (n int) {
	for i := range cubes {
		if !s.scene.Body(i).Asleep() {
			n++
		}
	}
	return n
}

// play calls each with n frames.
func play(t testing.TB, src *liveSource, n int, each func(f *frame.Frame)) {
	t.Helper()
	var f frame.Frame
	for range n {
		if err := src.Next(&f); err != nil {
			t.Fatal(err)
		}
		if each != nil {
			each(&f)
		}
	}
}

// The grid equals that of the recordings. The player starts slightly higher, since theirs has
// fallen for a step.
func TestInitialAgainstRecording(t *testing.T) {
	packed, err := os.Open(testkit.DataFile(t, "cubes/charlie.bin.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := zstd.NewReader(packed, zstd.WithDecoderMaxWindow(1<<27))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	raw := make([]byte, 4*cubes*frame.CubeFields)
	if _, err := io.ReadFull(z, raw); err != nil {
		t.Fatal(err)
	}
	want := make([]int32, cubes*frame.CubeFields)
	if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, want); err != nil {
		t.Fatal(err)
	}
	var got frame.Frame
	start(t, "idle").Initial(&got)
	if fall := got.Table[frame.CubeZ] - want[frame.CubeZ]; fall < 0 || fall > 5 {
		t.Errorf("the player starts at %d, that of the recording at %d", got.Table[frame.CubeZ], want[frame.CubeZ])
	}
	got.Table[frame.CubeZ] = want[frame.CubeZ]
	if !got.Equal(&frame.Frame{Table: want}) {
		t.Error("the initial state differs from that of the recording")
	}
}

// Without keys the player comes to rest on the cubes below it at 1.15 m, the cubes stop
// interacting, and then nothing changes.
func TestIdleComesToRest(t *testing.T) {
	src := start(t, "idle")
	play(t, src, 8*60, nil)
	var before, after frame.Frame
	src.sim.snapshot(&before)
	play(t, src, 60, func(f *frame.Frame) { after.CopyFrom(f) })
	if n := awakeCubes(src.sim); n != 0 {
		t.Errorf("%d cubes are awake after 9 s", n)
	}
	if !after.Equal(&before) {
		t.Error("something changed in the ninth second")
	}
	if z := src.sim.Player().Pos.Z; math.Abs(z-1.15) > 0.02 {
		t.Errorf("the player lies at %.3f m, expected 1.15", z)
	}
	for i := range cubes {
		if flag := after.Table[i*frame.CubeFields+frame.CubeInteracting]; flag != int32(keyValue(i == player)) {
			t.Errorf("cube %d: interacting = %d", i, flag)
		}
	}
}

// A hovering player stays above the cubes and disturbs sixty to a hundred of them at a time, as in the
// recordings.
func TestHover(t *testing.T) {
	src := start(t, "hover")
	play(t, src, 5*60, nil)
	var past [6]frame.Frame
	changed, n, height := 0, 0, 0.0
	play(t, src, 12*60, func(f *frame.Frame) {
		slot := &past[n%6]
		if n >= 6 {
			changed += f.ChangedRows(slot, frame.CubeFields)
		}
		slot.CopyFrom(f)
		height += src.sim.Player().Pos.Z
		n++
	})
	if h := height / float64(n); h < 2.0 || h > 2.8 {
		t.Errorf("it hovers at %.2f m, expected about 2.3", h)
	}
	if c := float64(changed) / float64(n-6); c < 50 || c > 120 {
		t.Errorf("%.1f cubes change in six frames, expected 50..120", c)
	}
}

// With katamari a ball of cubes gathers and moves with the player.
func TestKatamari(t *testing.T) {
	if race {
		t.Skip("a minute with the race detector, and nothing here runs side by side")
	}
	src := start(t, "katamari")
	play(t, src, 20*60, nil)
	s := src.sim
	near := 0
	for i := player + 1; i < cubes; i++ {
		if s.scene.Body(i).Pos.Sub(s.Player().Pos).Length() < pullTo {
			near++
		}
	}
	if near < 25 {
		t.Errorf("%d cubes cling to the player after 20 s, expected at least 25", near)
	}
}

// Direction keys roll the player, and a key against the direction of travel turns it back.
func TestRolling(t *testing.T) {
	for _, c := range []struct {
		in   Input
		x, y float64
	}{{Input{Right: true}, 1, 0}, {Input{Left: true}, -1, 0}, {Input{Up: true}, 0, 1}, {Input{Down: true}, 0,
		-1}, {Input{Left: true, Right: true}, 0, 0}} {
		s := newSim()
		for range 120 {
			s.Step(Input{})
		}
		from := s.Player().Pos
		for range 60 {
			s.Step(c.in)
		}
		d := s.Player().Pos.Sub(from)
		along, across := d.X*c.x+d.Y*c.y, d.X*c.y-d.Y*c.x
		if c.x == 0 && c.y == 0 {
			along, across = 1, d.Length()
		}
		if along < 0.5 || math.Abs(across) > along {
			t.Errorf("%+v moved the player by %+v", c.in, d)
		}
	}
}

// An hour of the random script stays within bounds: no speed above 32 m/s, no cube above 30 m or at the
// limits of positions. Level 2 plays the hour, level 1 a quarter of it.
func TestBounds(t *testing.T) {
	seconds := testkit.ChooseLong(3600, 900, 40)
	if race {
		seconds = 60
	}
	src := start(t, "random")
	s := src.sim
	var fastest, highest, farthest float64
	play(t, src, seconds*60, func(f *frame.Frame) {
		if s.tick%60 == 0 {
			if err := src.Schema().Check(f); err != nil {
				t.Fatal(err)
			}
		}
		for i := range cubes {
			b := s.scene.Body(i)
			if b.Asleep() {
				continue
			}
			fastest, highest = max(fastest, b.Vel.Length()), max(highest, b.Pos.Z)
			farthest = max(farthest, math.Abs(b.Pos.X), math.Abs(b.Pos.Y))
			if b.Vel.Length() > 32 || b.Pos.Z > 30 || b.Pos.Z < 0 || farthest > 250 {
				t.Fatalf("step %d: cube %d: %+v", s.tick, i, *b)
			}
		}
	})
	t.Logf("in %d s: at most %.1f m/s, %.1f m high, %.1f m from the middle", seconds, fastest, highest, farthest)
}

// With random keys speeds, heights and snapshots stay within their limits.
func TestAnyKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	src := start(t, "idle")
	s := src.sim
	key := func() bool { return rng.IntN(2) == 0 }
	seconds := 60
	if race {
		seconds = 10
	}
	for k := range 2 * seconds {
		in := Input{Left: key(), Right: key(), Up: key(), Down: key(), Push: key(), Pull: key()}
		if k == 0 { // the worst start: the player rests, and all forces lift it
			play(t, src, 120, nil)
			in.Push, in.Pull = true, true
		}
		src.Hold(in)
		play(t, src, 30, func(f *frame.Frame) {
			if err := src.Schema().Check(f); err != nil {
				t.Fatal(err)
			}
			for i := range cubes {
				b := s.scene.Body(i)
				if b.Vel.Length() > 32 || b.Pos.Z > 32 || b.Pos.Z < 0 || !(math.Abs(b.Pos.X) <= 256) || !(math.Abs(b.Pos.Y) <= 256) {
					t.Fatalf("%+v, step %d: cube %d: %+v", in, s.tick, i, *b)
				}
			}
		})
	}
}

func TestSeeds(t *testing.T) {
	run := func(seed uint64) (last frame.Frame) {
		src, err := open("hover", seed)
		if err != nil {
			t.Fatal(err)
		}
		play(t, src, 300, func(f *frame.Frame) { last.CopyFrom(f) })
		return last
	}
	a, b, c := run(1), run(1), run(2)
	if !a.Equal(&b) {
		t.Error("the same seed gave another world")
	}
	if a.Equal(&c) {
		t.Error("another seed gave the same world")
	}
}

func TestUnknownScript(t *testing.T) {
	_, err := open("hovver", 1)
	var unknown *source.UnknownError
	if !errors.As(err, &unknown) {
		t.Fatalf("%v, expected an %T", err, unknown)
	}
	if name, known := unknown.Unknown(); name != "hovver" || len(known) != len(Scripts()) {
		t.Errorf("unknown %q of %v", name, known)
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	if race {
		t.Skip("a minute with the race detector, and nothing here runs side by side")
	}
	for _, script := range []string{"hover", "katamari"} {
		src := start(t, script)
		var f frame.Frame
		next := func() {
			if err := src.Next(&f); err != nil {
				t.Fatal(err)
			}
		}
		for range testkit.Choose(20, 5) * 60 {
			next()
		}
		if n := testing.AllocsPerRun(300, next); n != 0 {
			t.Errorf("%s: %v allocations a frame, expected none", script, n)
		}
	}
}

// The quantisation error of orientations is at most half a step in each component.
func TestSmallestThree(t *testing.T) {
	rot := physics.Quat{W: 1}
	if largest, three := smallestThree(rot); largest != 3 || three != [3]float64{255.5, 255.5, 255.5} {
		t.Errorf("upright became %d %v", largest, three)
	}
	const step = math.Sqrt2 / 511
	for k := range 2000 {
		q := [4]float64{math.Sin(float64(k)), math.Cos(float64(3 * k)), math.Sin(float64(7*k) + 1), math.Cos(float64(11 * k))}
		l := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
		for i := range q {
			q[i] /= l
		}
		largest, three := smallestThree(physics.Quat{X: q[0], Y: q[1], Z: q[2], W: q[3]})
		back, n, rest := [4]float64{}, 0, 1.0
		for i := range back {
			if i == int(largest) {
				continue
			}
			back[i] = math.Round(three[n])*step - 1/math.Sqrt2
			rest -= back[i] * back[i]
			n++
		}
		back[largest] = math.Sqrt(max(rest, 0))
		flip := math.Copysign(1, q[largest])
		for i := range back {
			if i != int(largest) && math.Abs(back[i]-flip*q[i]) > step/2+1e-12 {
				t.Fatalf("%v became %d %v: component %d is %v", q, largest, three, i, back[i])
			}
			if math.Abs(back[i]-flip*q[i]) > 2*step {
				t.Fatalf("%v is decoded as %v", q, back)
			}
		}
		minus, same := smallestThree(physics.Quat{X: -q[0], Y: -q[1], Z: -q[2], W: -q[3]})
		if minus != largest || same != three {
			t.Fatalf("%v and its negative, the same rotation, became different", q)
		}
	}
}

// A position is rounded to 1/512 m within the range of the schema; the residual is the rest of it.
func TestPosition(t *testing.T) {
	s := newSim()
	for _, c := range []struct {
		metres float64
		want   int32
	}{{0, 0}, {1, 512}, {-1, -512}, {0.2, 102}, {0.201, 103}, {-0.0009, 0}, {-0.001, -1}, {300, 1<<17 - 1}, {-300, -1 << 17}} {
		s.scene.Body(player).Pos.X = c.metres
		s.quantise(player)
		got, rest := s.table[frame.CubeX], float64(s.residual[frame.CubeX])
		if got != c.want || math.Abs(float64(got)/512+rest-c.metres) > 1e-6 {
			t.Errorf("%v m became %d with the rest %v, expected %d", c.metres, got, rest, c.want)
		}
	}
}

// The torque on a tilted player is 100 Nm per radian, at most 50 Nm, about the axis that turns it back.
func TestRighting(t *testing.T) {
	for _, tilt := range []float64{0, 0.01, 0.2, 0.45, 0.49, 0.6, 1.5, 2.5} {
		up := physics.Vec{X: math.Sin(tilt), Z: math.Cos(tilt)}
		got := torqueTowards(up, physics.Vec{Z: 1})
		want := -100 * min(tilt, 0.5)
		if math.Abs(got.Y-want) > 0.2 || got.X != 0 || got.Z != 0 {
			t.Errorf("tilted by %v: torque %v, expected %v about y", tilt, got, want)
		}
	}
}

// The wave is periodic, between -1 and 1, and close to a sine.
func TestWave(t *testing.T) {
	for x := -3.0; x < 3; x += 0.01 {
		if d := wave(x) - math.Sin(2*math.Pi*x); math.Abs(d) > 0.06 {
			t.Errorf("wave(%v) is %v away from a sine", x, d)
		}
	}
}
