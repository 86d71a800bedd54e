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
	Width int  // columns, at least MinWidth; smaller values count as MinWidth
	ASCII bool // use ASCII characters only
}

// MinWidth is the smallest width of a picture in columns.
const MinWidth = 40

// stripPackets is the largest number of packets that a picture draws one by one, in its last part.
const stripPackets = 500

// Largest number of bars in the histograms of delays and of loss runs.
const (
	maxDelayBars = 12
	maxRunBars   = 8
)

// Show sends traffic over a link and draws the resulting capture without its statistics. The same arguments give the
// same text.
func Show(spec lossmodel.Spec, seed uint64, t Traffic, style Style) (string, error) {
	rows, err := Trace(spec, seed, t)
	if err != nil {
		return "", err
	}
	p := newPicture(style)
	s := mustSequence(rows)
	st := NewStats(s)
	p.draw(s, &st)
	return p.text.String(), nil
}

// Picture draws a capture: its statistics, histograms of delays and loss runs, and the first
// packets one by one. Lines are at most style.Width columns wide, without trailing spaces.
func Picture(s *capture.Sequence, style Style) string {
	p := newPicture(style)
	st := NewStats(s)
	p.writeStats(&st)
	p.draw(s, &st)
	return p.text.String()
}

// picture is a text that is being written.
type picture struct {
	text  strings.Builder
	style Style
}

// newPicture returns an empty picture.
func newPicture(style Style) *picture {
	style.Width = max(style.Width, MinWidth)
	return &picture{style: style}
}

// draw writes the histograms and the first packets, with an empty line above each.
func (p *picture) draw(s *capture.Sequence, st *Stats) {
	p.writeDelays(s, st)
	p.writeRuns(st)
	p.writeStrip(s.Datagrams[:min(stripPackets, len(s.Datagrams))])
}

// writeLine writes a formatted line, truncated to the width.
func (p *picture) writeLine(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if utf8.RuneCountInString(text) > p.style.Width {
		text = string([]rune(text)[:p.style.Width])
	}
	p.text.WriteString(text + "\n")
}

// writeStats writes the statistics as text.
func (p *picture) writeStats(st *Stats) {
	p.writeLine("%d packets, %.3g%% lost", st.Sent, st.LossRate*100)
	if st.Bursts > 0 {
		p.writeLine("loss runs: mean %.2f, longest %d", st.MeanBurst, st.LongBurst)
	}
	if d := &st.Delay; d.Count > 0 {
		p.writeLine("delay mean %s, median %s ms", formatMillis(d.Mean), formatMillis(d.P50))
		p.writeLine("delay 95%% %s, 99%% %s ms", formatMillis(d.P95), formatMillis(d.P99))
	}
	if r := &st.Reordering; r.Reordered > 0 {
		p.writeLine("%.3g%% reordered, extent up to %d", r.Ratio*100, r.MaxExtent)
	}
	if st.Copies > 0 {
		p.writeLine("%.3g%% duplicated", st.Duplicated*100)
	}
}

// formatMillis formats a duration in milliseconds with four significant digits.
func formatMillis(d time.Duration) string { return units.Significant(float64(d)/millisecond, 4) }

// writeDelays draws a histogram of delays from the 0.1 % to the 99.9 % quantile. Delays outside
// count in the outermost bars.
func (p *picture) writeDelays(s *capture.Sequence, st *Stats) {
	if st.Delay.Count == 0 {
		return
	}
	var delays []time.Duration
	for i := range s.Datagrams {
		if d := &s.Datagrams[i]; !d.Lost {
			delays = append(delays, d.Took)
		}
	}
	slices.Sort(delays)
	lo, hi := quantile.NextRank(delays, 0.001), quantile.NextRank(delays, 0.999)
	n := maxDelayBars
	if hi-lo < maxDelayBars { // less than a nanosecond per bar: all delays are practically equal
		n = 1
	}
	counts := make([]int, n)
	for _, t := range delays {
		i := 0
		if n > 1 {
			i = int(float64(t-lo) / float64(hi-lo+1) * float64(n))
		}
		counts[min(max(i, 0), n-1)]++
	}
	p.writeLine("")
	p.writeLine("delay, ms")
	for i, c := range counts {
		from := lo + (hi-lo)*time.Duration(i)/time.Duration(n)
		p.writeBar(formatMillis(from), c, slices.Max(counts), len(delays))
	}
}

// writeRuns draws a histogram of the lengths of loss runs. The last bar includes longer runs.
func (p *picture) writeRuns(st *Stats) {
	if st.Bursts == 0 {
		return
	}
	counts := make([]int, min(maxRunBars, len(st.Runs)))
	for i, c := range st.Runs {
		counts[min(i, len(counts)-1)] += c
	}
	p.writeLine("")
	p.writeLine("packets lost in a row")
	for i, c := range counts {
		label := fmt.Sprint(i + 1)
		if i == maxRunBars-1 && st.LongBurst > maxRunBars {
			label += "+"
		}
		p.writeBar(label, c, slices.Max(counts), st.Bursts)
	}
}

// writeBar draws a label, a bar for the count n, and n as a percentage of total. The bar of the count
// largest fills the width.
func (p *picture) writeBar(label string, n, largest, total int) {
	const labelWidth, percentWidth = 8, 8
	barWidth := p.style.Width - labelWidth - percentWidth - 2
	eighths := 0
	if largest > 0 {
		eighths = int(math.Ceil(float64(n) / float64(largest) * float64(barWidth) * 8))
	}
	drawn := strings.Repeat("#", (eighths+7)/8)
	if !p.style.ASCII {
		drawn = strings.Repeat("█", eighths/8)
		if part := eighths % 8; part > 0 { // the last column is a block of 1/8 to 7/8
			drawn += string([]rune("▏▎▍▌▋▊▉")[part-1])
		}
	}
	pad := strings.Repeat(" ", max(0, barWidth-utf8.RuneCountInString(drawn)))
	p.writeLine("%*s %s%s %*s", labelWidth, label, drawn, pad, percentWidth, fmt.Sprintf("%.2f%%", ratio(n, total)*100))
}

// writeStrip draws one character for each packet, in the order of sending: arrived, lost, reordered
// (overtaken by a packet sent later) or copied. The first character that applies is lost, reordered,
// copied, arrived.
func (p *picture) writeStrip(datagrams []capture.Datagram) {
	arrived, lost, overtaken, duplicated := '·', '×', '‹', '+'
	if p.style.ASCII {
		arrived, lost, overtaken, duplicated = '.', 'x', '<', '+'
	}
	p.writeLine("")
	p.writeLine("the first %d packets", len(datagrams))
	p.writeLine("%c arrived  %c lost  %c reordered  %c copied", arrived, lost, overtaken, duplicated)
	marks := make([]rune, len(datagrams))
	next := time.Duration(math.MaxInt64) // earliest arrival of the packets sent later
	for i := len(datagrams) - 1; i >= 0; i-- {
		d := &datagrams[i]
		at := time.Duration(math.MaxInt64) // arrival of the first copy; unchanged if none arrived
		if !d.Lost || len(d.Copies) > 0 {
			at = d.Sent + firstDelay(d)
		}
		switch {
		case at == math.MaxInt64:
			marks[i] = lost
		case at > next:
			marks[i] = overtaken
		case len(d.Copies) > 0:
			marks[i] = duplicated
		default:
			marks[i] = arrived
		}
		next = min(next, at)
	}
	for len(marks) > 0 {
		n := min(p.style.Width, len(marks))
		p.writeLine("%s", string(marks[:n]))
		marks = marks[n:]
	}
}
