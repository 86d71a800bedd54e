package experiment

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// tableOf writes a schema of 25 rows at 30 Hz and 300 frames of random changes, and
// returns the spec for --data.
func tableOf(t *testing.T) string {
	t.Helper()
	schema := "name = \"arena\"\nitem = \"tank\"\nrate_hz = 30\nrows = 25\n" +
		"[[field]]\nname = \"x\"\nkind = \"quantity\"\nrange = [-5000, 5000]\nunit = \"cm\"\n" +
		"[[field]]\nname = \"y\"\nkind = \"quantity\"\nrange = [-5000, 5000]\nunit = \"cm\"\n" +
		"[[field]]\nname = \"heading\"\nkind = \"angle\"\nrange = [0, 720]\n" +
		"[[field]]\nname = \"heat\"\nkind = \"float32\"\n" +
		"[[field]]\nname = \"weapon\"\nkind = \"enum\"\nrange = [0, 9]\n" +
		"[[field]]\nname = \"gear\"\nkind = \"bits\"\n"
	rng := rand.New(rand.NewPCG(5, 6))
	var records []byte
	now := make([][6]int32, 25)
	for range 300 {
		for i := range now {
			q := &now[i]
			if i < 10 {
				q[0], q[1] = min(q[0]+int32(i*3), 5000), max(q[1]-int32(i*2), -5000)
				q[2] = (q[2] + int32(i)*7) % 720
				q[3] = int32(math.Float32bits(float32(q[0]) * 0.37))
			}
			if rng.IntN(40) == 0 {
				q[4], q[5] = rng.Int32N(10), q[5]^1<<rng.IntN(32)
			}
			for _, v := range q {
				records = binary.LittleEndian.AppendUint32(records, uint32(v))
			}
		}
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"arena.toml": []byte(schema), "arena.bin": records} {
		noError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return "table:" + filepath.Join(dir, "arena.toml") + "," + filepath.Join(dir, "arena.bin")
}

// A user's table is sent at its own rate, by the default encoder for tables, with its own word for
// items. No frame is wrong over any link and with any swaps.
func TestUserTable(t *testing.T) {
	c := config.Default()
	c.Seed = 3
	testkit.Set(t, c, []any{"data.source", tableOf(t), "link.loss", "8%", "link.latency", "60ms", "link.jitter", "40ms",
		"down.duplicate", "5%",
		"down.reorder", "10%", "down.corrupt", "2%", "duration", "30s", "at[0].t", "8s", "at[0].encoder", "xor-rle", "at[1].t", "12s",
		"at[1].encoder", "delta-adaptive",
		"at[2].t", "20s", "at[2].params.limit", 60}...)
	r := mustRun(t, c, RunOptions{}).Runs[0]
	got := r.Totals
	if got.Wrong != 0 || got.DecodeRefused != 0 || got.EncodeFailed != 0 || got.Failures.NoBaseline != 0 || got.Decoded < 600 {
		t.Errorf("wrong %d, refused %d, not encoded %d, decoded %d, %+v", got.Wrong, got.DecodeRefused, got.EncodeFailed, got.Decoded,
			got.Failures)
	}
	if r.Item != "tank" || r.ItemsPerFrame != 25 || r.Frames != 900 || got.BitsPerCube != nil {
		t.Errorf("%d frames of %d %ss, bits per cube %v", r.Frames, r.ItemsPerFrame, r.Item, got.BitsPerCube)
	}
	if name, rate := r.Config.Text("encoder.name"), r.Config.Text("sender.rate_hz"); name != "delta-adaptive" || rate != "30" {
		t.Errorf("ran with %v at %v", name, rate)
	}
}

// An invalid schema and invalid first records are errors of the configuration. Invalid records
// later end the run with an error that contains their line.
func TestInvalidTable(t *testing.T) {
	spec := tableOf(t)
	schema, _, _ := strings.Cut(strings.TrimPrefix(spec, "table:"), ",")
	text := must(os.ReadFile(schema))
	for _, c := range []struct{ from, to, want string }{
		{`item = "tank"`, `itm = "tank"`, `data.source: ` + schema + `:2: itm: unknown key "itm"; did you mean item?`},
		{`rate_hz = 30`, `rate_hz = 30.5`, `data.source: ` + schema +
			`:3: rate_hz: 30.5 is not valid; expected a whole number, 1 to 1000 frames a second`},
		{`rows = 25`, `rows = 24`, "arena.bin: frame 312, tank 12, field x: the records end before this value; expected complete frames of 576 bytes"},
		{`range = [-5000, 5000]`, `range = [0, 100]`, "field x: 108 is out of range; expected 0 to 100"},
	} {
		noError(t, os.WriteFile(schema, []byte(strings.Replace(string(text), c.from, c.to, 1)), 0o600))
		config := config.Default()
		config.Data.Source = spec
		if _, err := Run(t.Context(), config, RunOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ...%s", c.to, err, c.want)
		}
	}
}

// The error of a display includes what rounding to the steps of the schema loses. Over a perfect link
// the display shows each rounded frame at its time, so that the expected errors follow from the log
// alone.
func TestErrorsIncludeRounding(t *testing.T) {
	const hz, frames, scale, turnScale = 20, 200, 0.1, 0.5
	rng := rand.New(rand.NewPCG(40, 12))
	log, off, turned := "tick,id,x,y,yaw\n", []float64{}, []float64{}
	x, y, yaw := [4]float64{}, [4]float64{}, [4]float64{}
	for n := range frames {
		for i := range x {
			if i == 3 && n%50 < 10 { // a thing that comes and goes
				continue
			}
			x[i], y[i], yaw[i] = x[i]+rng.Float64()-0.5, y[i]+0.01*rng.Float64(), math.Mod(yaw[i]+0.1*rng.Float64(), 360)
			log += fmt.Sprintf("%d,%d,%v,%v,%v\n", n, i, x[i], y[i], yaw[i])
			lost := func(v, scale float64) float64 { return v - math.Round(v/scale)*scale }
			if n > 0 && n <= frames-3 { // the first frame shows no movement; the last two are displayed after the end
				off, turned = append(off, math.Hypot(lost(x[i], scale), lost(y[i], scale))), append(turned, math.Abs(lost(yaw[i], turnScale)))
			}
		}
	}
	schema := fmt.Sprintf("item = \"tank\"\nrate_hz = %d\nrows = \"auto\"\nframe = \"tick\"\nkey = \"id\"\n", hz)
	for i, axis := range []string{"x", "y"} {
		schema += fmt.Sprintf("[[field]]\nname = %q\nkind = \"quantity\"\nrange = [-100, 100]\nscale = %v\nunit = \"m\"\nrole = \"place\"\ngroup = 1\naxis = %d\n", axis, scale, i)
	}
	schema += fmt.Sprintf("[[field]]\nname = \"yaw\"\nkind = \"angle\"\nrange = [0, 360]\nscale = %v\nunit = \"deg\"\n", turnScale)
	dir := t.TempDir()
	for name, text := range map[string]string{"walk.toml": schema, "walk.csv": log} {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c := config.Default()
	testkit.Set(t, c, []any{"data.source", "table:" + filepath.Join(dir, "walk.toml") + "," + filepath.Join(dir, "walk.csv"),
		"receiver.playout_delay", "100ms", "link.loss", "0%", "link.latency", "0ms"}...)
	p := mustRun(t, c, RunOptions{}).Runs[0].Totals.Playout
	for name, e := range map[string]struct {
		got  *figures.Quantiles
		want []float64
	}{"position": {p.PositionError, off}, "angle": {p.AngleError, turned}} {
		slices.Sort(e.want)
		p95, largest := e.want[len(e.want)*95/100], e.want[len(e.want)-1]
		if e.got.N != int64(len(e.want)) || math.Abs(e.got.P95/p95-1) > 0.02 || math.Abs(e.got.Max-largest) > 1e-6 {
			t.Errorf("%d %s errors %+v, expected %d, p95 %v, max %v", e.got.N, name, *e.got, len(e.want), p95, largest)
		}
	}
}
