package bits

import (
	"math"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/encoders"
	"wirelab/internal/units"
)

// The figures of the table add up, and the difference is that of the sums.
func TestAccountAddsUp(t *testing.T) {
	lab := labtest.NewBits(true)
	a := &account{second: &panes.Second{}, chosen: -1}
	a.observe(labtest.ViewOf(lab.Snap))
	for i := range lab.Snap.Lanes {
		l := &lab.Snap.Lanes[i]
		var sum sums
		for _, k := range a.parts {
			s := spent(l, k)
			sum.kbps, sum.share, sum.changed, sum.packet = sum.kbps+s.kbps, sum.share+s.share, sum.changed+s.changed, sum.packet+s.packet
		}
		all := spent(l, encoders.MaxSlots)
		if math.Abs(sum.kbps-l.Recent.PayloadKbps) > 1e-6 || math.Abs(sum.share-100) > 1e-6 ||
			math.Abs(sum.changed-all.changed) > 1e-6 || math.Abs(all.packet-sum.packet) > 1e-6 {
			t.Errorf("%s: parts %+v, all %+v", l.Encoder, sum, all)
		}
	}
	text, more := (&table{a}).verdict()
	got := text + more
	saved := lab.Snap.Lanes[0].Recent.PayloadKbps - lab.Snap.Lanes[1].Recent.PayloadKbps
	if !strings.Contains(got, "kinetic takes "+units.Fixed(saved, 1)+" kbps less") || !strings.Contains(got, "most of it on position") {
		t.Errorf("the verdict is %q, it saves %.1f", got, saved)
	}
}

// Whatever the unit, what is stacked at a moment is what was spent at it.
func TestStackIsWhatWasSpent(t *testing.T) {
	lab := labtest.NewBits(false)
	a := &account{second: &panes.Second{}, chosen: -1}
	a.observe(labtest.ViewOf(lab.Snap))
	p := &stack{account: a}
	s := &lab.Snap.Lanes[0].Samples[400]
	for unit, want := range map[stackUnit]float64{byKbps: float64(s.PayloadBits) / 100, byShare: 100,
		byChanged: float64(s.PayloadBits) / float64(s.Changed)} {
		a.unit = unit
		sum := 0.0
		for _, k := range p.order() {
			sum += p.value(s, k)
		}
		if math.Abs(sum-want) > 1e-6*want {
			t.Errorf("unit %d: %g is stacked, %g was spent", unit, sum, want)
		}
	}
}

// In mono every part of the stack has a fill of its own.
func TestPartsAreToldApartWithoutColour(t *testing.T) {
	a := &account{second: &panes.Second{}, chosen: -1}
	a.observe(labtest.ViewOf(labtest.NewBits(false).Snap))
	th := labtest.Theme(false)
	seen := map[rune]string{}
	for _, area := range (&stack{account: a}).spec(a.first(), th, 100).Areas {
		if other, twice := seen[area.Fill]; twice {
			t.Errorf("%s and %s are both filled with %c", area.Name, other, area.Fill)
		}
		seen[area.Fill] = area.Name
	}
	if len(seen) != 6 {
		t.Errorf("%d parts", len(seen))
	}
}
