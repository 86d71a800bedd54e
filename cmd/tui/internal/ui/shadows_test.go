package ui

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/lossmodel"
)

// withShadows adds made-up shadows to a snapshot: each sends a share of what the
// first lane sends, and a little of its own. The last joined late.
func withShadows(snap *experiment.Snapshot, names ...string) *experiment.Snapshot {
	out := *snap
	out.Config = snap.Config.Clone()
	out.Lanes = append([]experiment.Lane{}, snap.Lanes...)
	first := &out.Lanes[0]
	first.Packets = append([]experiment.PacketRecord{}, first.Packets...)
	for k := range first.Packets {
		first.Packets[k].EncodeNS, first.Packets[k].DecodeNS = int64(41_000+k*37%5000), int64(38_000+k*53%4000)
	}
	for i, name := range names {
		l := *first
		l.Encoder = name
		share := []float64{0.62, 1.55, 0.9, 1.18}[i%4]
		rng := rand.New(rand.NewPCG(7, uint64(i)))
		l.Samples = append([]experiment.Sample{}, l.Samples...)
		for k := range l.Samples {
			s := &l.Samples[k]
			s.PayloadBits = int64(float64(s.PayloadBits) * share * (1 + 0.03*rng.NormFloat64()))
			s.Outcomes[experiment.NoBaseline] = 0
			if i == 1 && rng.IntN(20) == 0 {
				s.Outcomes[experiment.NoBaseline] = 1
			}
		}
		l.Packets = append([]experiment.PacketRecord{}, l.Packets...)
		for k := range l.Packets {
			p := &l.Packets[k]
			p.Encoder, p.Payload = name, int(math.Round(float64(p.Payload)*share))
			p.EncodeNS = int64(20_000 * float64(i+1) * (1 + 0.1*rng.Float64()))
			p.DecodeNS = p.EncodeNS / 2
		}
		l.Recent.PayloadKbps *= share
		l.Recent.BitsPerChanged *= share
		l.Recent.EncodeUS, l.Recent.DecodeUS = 20*float64(i+1), 10*float64(i+1)
		l.Totals.Failures = experiment.Failures{NoBaseline: int64(3 * i)}
		if n := len(l.Samples); i == 3 && n > 400 {
			l.Samples, l.Began = l.Samples[400:], 40*time.Second
		}
		out.Lanes = append(out.Lanes, l)
		out.Config.Shadows = append(out.Config.Shadows, experiment.EncoderConfig{Name: name})
	}
	return &out
}

func fourShadows() *experiment.Snapshot {
	return withShadows(fakeSnapshot(90*time.Second), "rotor", "raw", "quantized", "kinetic")
}

func TestGoldenShadows(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		opt  Options
	}{
		{"live-160x48-shadows", 160, 48, Options{}},
		{"live-160x48-shadows-ascii", 160, 48, Options{ASCII: true}},
		{"live-80x24-shadows", 80, 24, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, screen(&fakeLab{snap: fourShadows()}, c.w, c.h, c.opt).View())
		})
	}
}

// Shadows join and leave by typed commands and by v in the list of encoders; each
// change goes out by itself.
func TestShadowsByKeys(t *testing.T) {
	lab := newFakeLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "/", "shadow raw", "enter")
	press(m, "/", "shadow rotor", "enter", "/", "shadow off raw", "enter")
	if got := spell(lab.got); got != "shadow raw on; shadow rotor on; shadow raw off" {
		t.Errorf("sent: %s", got)
	}
	if got := shadowNames(m.lab.config()); len(got) != 1 || got[0] != "rotor" {
		t.Errorf("wanted beside: %v", got)
	}
	lab.got = nil
	press(m, "enter") // the list of encoders: its cursor is on the present one
	press(m, "down", "v", "v", "up", "v", "esc")
	if got := spell(lab.got); got != "shadow rotor off; shadow rotor on; shadow relative-orientation on" {
		t.Errorf("sent by v: %s", got)
	}
	lab.got = nil
	press(m, "enter", "r", "o", "v", "backspace", "t", "v", "esc") // once typing has begun, v is a letter
	if len(lab.got) != 0 {
		t.Errorf("sent by typing: %s", spell(lab.got))
	}
}

func TestShadowCommandsInError(t *testing.T) {
	m := screen(newFakeLab(), 160, 48, Options{})
	for line, says := range map[string]string{
		"shadow off":           "expected: shadow [off] NAME",
		"shadow off raw":       "no shadow runs",
		"shadow quantised":     "did you mean quantized?",
		"shadow raw x":         "NAME=VALUE",
		"shadow raw x=1":       "no params",
		"shadow rotor =":       "NAME=VALUE",
		"shadow off \u202eraw": "no shadow runs",
	} {
		m.line.show(line)
		press(m, "enter")
		if !m.line.open || !strings.Contains(m.line.err, says) {
			t.Errorf("%q: %q, want a word of %q", line, m.line.err, says)
		}
		m.line.open = false
	}
}

func TestShadowsAreOffered(t *testing.T) {
	d := desk{newCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()), fourShadows().Config, frame.Cubes(frame.WalkoffCubes)}
	if _, words := complete(d, "shadow off ro"); len(words) != 1 || words[0] != "rotor" {
		t.Errorf("offered: %v", words)
	}
	if _, words := complete(d, "shadow q"); len(words) != 0 && words[0] == "off" {
		t.Errorf("offered: %v", words)
	}
}

// Without colour the lines of shadows differ by their signs, and every shadow
// has some in the chart.
func TestShadowsAreToldApart(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		m := screen(&fakeLab{snap: fourShadows()}, 160, 48, Options{ASCII: ascii})
		chart := strings.Split(m.View(), "\n")[2:14]
		for i := range 4 {
			if sign := string(shadowSign(m.theme, i)); strings.Count(strings.Join(chart, ""), sign) < 3 {
				t.Errorf("ascii %v: hardly any %s in the chart", ascii, sign)
			}
		}
	}
}

// A shadow's first second, in which it sends everything anew, is not charted.
func TestShadowsAreChartedOnceTheyHaveCaughtUp(t *testing.T) {
	lane := experiment.Lane{Began: 30 * time.Second}
	for at := lane.Began + experiment.SamplePeriod; at <= 40*time.Second; at += experiment.SamplePeriod {
		lane.Samples = append(lane.Samples, experiment.Sample{T: at, PayloadBits: 1})
	}
	if s := settled(&lane); len(s) != 90 || s[0].T != 31*time.Second+experiment.SamplePeriod {
		t.Errorf("%d samples, the first ends at %v", len(s), s[0].T)
	}
	lane.Samples = lane.Samples[:5]
	if s := settled(&lane); len(s) != 0 {
		t.Errorf("%d samples half a second after it came", len(s))
	}
	lane.Began = 0
	if s := settled(&lane); len(s) != 5 {
		t.Errorf("%d samples of a lane that was there from the beginning", len(s))
	}
}

// The charts go by what the encoder of now costs, once its swap has been looked at.
func TestWhatAnotherEncoderCostMayLieOffTheChart(t *testing.T) {
	lab := newFakeLab()
	lane := &lab.snap.Lanes[0]
	for i := range lane.Samples {
		if lane.Samples[i].T <= 46*time.Second { // the swap of the made-up session
			lane.Samples[i].PayloadBits *= 60
			lane.Samples[i].WireBits *= 60
		}
	}
	m := screen(lab, 160, 48, Options{})
	if !strings.Contains(m.View(), "▲▲▲▲") || strings.Contains(m.View(), "k┤") {
		t.Errorf("an encoder of long ago sets the scale:\n%s", m.View())
	}
	lab.snap.Marks[0].T = 81 * time.Second
	m = screen(lab, 160, 48, Options{})
	if !strings.Contains(m.View(), "k┤") {
		t.Errorf("a swap cannot be seen in full:\n%s", m.View())
	}
}

// Every lane has a sign of its own, in ASCII too.
func TestNoTwoLanesHaveOneSign(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		th := bareTheme(ascii)
		seen := map[rune]int{}
		for lane := range 1 + shadowInks {
			r := laneSign(th, lane)
			if other, twice := seen[r]; twice {
				t.Errorf("ascii %v: lanes %d and %d both are %q", ascii, other, lane, r)
			}
			seen[r] = lane
		}
	}
}
