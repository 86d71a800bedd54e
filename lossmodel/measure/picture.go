package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"wirelab/internal/quantile"
	"wirelab/internal/units"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
)

// Style is the width and the character set of a picture.
type Style struct {
	Width int  // columns, at least MinWidth; less counts as that
	ASCII bool // no other characters
}

// MinWidth is the narrowest picture, in columns.
const MinWidth = 40

// stripPackets is how many packets the strip at the end of a picture shows.
const stripPackets = 500

// rows is how many bars the histograms have at most.
const (
	delayRows = 12
	runRows   = 8
)

// Show sends traffic over a link and draws what comes of it. The same arguments
// give the same text.
func Show(spec lossmodel.Spec, seed uint64, t Traffic, style Style) (string, error) {
	rows, err := Trace(spec, seed, t)
	if err != nil {
		return "", err
	}
	return Picture(sequenceOf(rows), style), nil
}

// Picture draws a capture: its figures, the histogram of delays, the runs of
// losses, and the first packets one by one. No line is wider than the style says;
// none has spaces at its end.
func Picture(s *capture.Sequence, style Style) string {
	p := &picture{style: style}
	p.style.Width = max(style.Width, MinWidth)
	st := Of(s)
	p.figures(&st)
	p.delays(s, &st)
	p.runs(&st)
	p.strip(s.Datagrams[:min(stripPackets, len(s.Datagrams))])
	return p.text.String()
}

type picture struct {
	text  strings.Builder
	style Style
}

// line writes one line, cut to the width.
func (p *picture) line(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if p.style.ASCII {
		text = strings.ReplaceAll(text, "±", "+-")
	}
	if utf8.RuneCountInString(text) > p.style.Width {
		text = string([]rune(text)[:p.style.Width])
	}
	p.text.WriteString(text + "\n")
}

func (p *picture) figures(st *Stats) {
	p.line("%d packets, %.3g%% lost", st.Sent, st.LossRate*100)
	if st.Bursts > 0 {
		p.line("runs of %.2f on average, longest %d", st.MeanBurst, st.LongBurst)
	}
	if d := &st.Delay; d.Count > 0 {
		p.line("delay %s ± %s ms", inMillis(d.Mean), inMillis(d.SD))
		p.line("median %s, 95%% %s, 99%% %s ms", inMillis(d.P50), inMillis(d.P95), inMillis(d.P99))
	}
	if r := &st.Reordering; r.Reordered > 0 {
		p.line("%.3g%% reordered, by up to %d", r.Ratio*100, r.MaxExtent)
	}
	if st.Copies > 0 {
		p.line("%.3g%% duplicated", st.Duplicated*100)
	}
}

func inMillis(d time.Duration) string { return units.Significant(float64(d)/millisecond, 4) }

// delays draws the histogram between the delays of all but a thousandth at either
// end, which count with the outermost bars.
func (p *picture) delays(s *capture.Sequence, st *Stats) {
	if st.Delay.Count == 0 {
		return
	}
	var took []time.Duration
	for i := range s.Datagrams {
		if d := &s.Datagrams[i]; !d.Lost {
			took = append(took, d.Took)
		}
	}
	slices.Sort(took)
	lo, hi := quantile.NextRank(took, 0.001), quantile.NextRank(took, 0.999)
	n := delayRows
	if hi-lo < delayRows {
		n = 1
	}
	counts := make([]int, n)
	for _, t := range took {
		i := 0
		if n > 1 {
			i = int(float64(t-lo) / float64(hi-lo+1) * float64(n))
		}
		counts[min(max(i, 0), n-1)]++
	}
	p.line("")
	p.line("delay, ms")
	for i, c := range counts {
		from := lo + (hi-lo)*time.Duration(i)/time.Duration(n)
		p.bar(inMillis(from), c, slices.Max(counts), len(took))
	}
}

func (p *picture) runs(st *Stats) {
	if st.Bursts == 0 {
		return
	}
	counts := make([]int, min(runRows, len(st.Runs)))
	for i, c := range st.Runs {
		counts[min(i, len(counts)-1)] += c
	}
	p.line("")
	p.line("packets lost in a row")
	for i, c := range counts {
		label := fmt.Sprint(i + 1)
		if i == runRows-1 && st.LongBurst > runRows {
			label += "+"
		}
		p.bar(label, c, slices.Max(counts), st.Bursts)
	}
}

// bar draws a label, a bar as long as n of most, and n's share of all.
func (p *picture) bar(label string, n, most, all int) {
	const labels, shares = 8, 8
	room := p.style.Width - labels - shares - 2
	eighths := 0
	if most > 0 {
		eighths = int(math.Ceil(float64(n) / float64(most) * float64(room) * 8))
	}
	drawn := strings.Repeat("#", (eighths+7)/8)
	if !p.style.ASCII {
		drawn = strings.Repeat("█", eighths/8)
		if part := eighths % 8; part > 0 {
			drawn += string([]rune("▏▎▍▌▋▊▉")[part-1])
		}
	}
	pad := strings.Repeat(" ", max(0, room-utf8.RuneCountInString(drawn)))
	p.line("%*s %s%s %*s", labels, label, drawn, pad, shares, fmt.Sprintf("%.2f%%", ratio(n, all)*100))
}

// strip draws packets one by one in the order of sending.
func (p *picture) strip(all []capture.Datagram) {
	arrived, lost, late, twice := '·', '×', '‹', '+'
	if p.style.ASCII {
		arrived, lost, late, twice = '.', 'x', '<', '+'
	}
	p.line("")
	p.line("the first %d packets", len(all))
	p.line("%c arrived  %c lost  %c overtaken  %c twice", arrived, lost, late, twice)
	marks := make([]rune, len(all))
	next := time.Duration(math.MaxInt64) // when the soonest of the later ones arrives
	for i := len(all) - 1; i >= 0; i-- {
		d := &all[i]
		at := time.Duration(math.MaxInt64)
		if !d.Lost || len(d.Copies) > 0 {
			at = d.Sent + soonest(d)
		}
		switch {
		case at == math.MaxInt64:
			marks[i] = lost
		case at > next:
			marks[i] = late
		case len(d.Copies) > 0:
			marks[i] = twice
		default:
			marks[i] = arrived
		}
		next = min(next, at)
	}
	for len(marks) > 0 {
		n := min(p.style.Width, len(marks))
		p.line("%s", string(marks[:n]))
		marks = marks[n:]
	}
}
