package page

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"wirelab/experiment/report"
)

// problemKind is the kind of a packet's problem. Each kind has its own row in the chart.
type problemKind int

// The kinds, most severe first.
const (
	kindFailed problemKind = iota // no baseline, corrupt, unknown codec, wrong
	kindLost
	kindLate // stale, or too late for the display
	kindLarge
	numKinds
)

// kindNames are the names of the kinds, as adjectives of packets.
var kindNames = [numKinds]string{"failed", "lost", "late or stale", "large"}

// problem is a packet that was lost, late, large or failed.
type problem struct {
	seq    uint64
	copy   int     // number of the duplicate; 0 is the original
	sent   float64 // virtual time in seconds
	delay  float64 // ms; negative if the packet did not arrive
	reason string
	why    string // the explanation of the reason
}

// compare orders problems by sequence and copy.
func (e *problem) compare(f *problem) int {
	return cmp.Or(cmp.Compare(e.seq, f.seq), cmp.Compare(e.copy, f.copy))
}

// hash returns a hash of the packet (Fibonacci hashing: multiplication by 2^64 divided by the golden
// ratio), so that a selection by hash is even for periodic failures too. copy is below 64.
func (e *problem) hash() uint64 {
	h := (e.seq*64 + uint64(e.copy) + 1) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// maxEvents is the maximum number of problems of one kind that a page lists.
const maxEvents = 250

// problemSample stores the problems of one kind with the least hashes, so that the selection does not
// depend on the order of the packets.
type problemSample struct {
	total  int       // problems added
	stored []problem // at most 2*maxEvents
}

// add counts a problem and stores it if it may be selected.
func (l *problemSample) add(e problem) {
	l.total++
	l.stored = append(l.stored, e)
	if len(l.stored) > 2*maxEvents {
		l.stored = l.selected()
	}
}

// selected returns the maxEvents problems with the least hashes, at most, in the order of their hashes.
func (l *problemSample) selected() []problem {
	list := slices.SortedFunc(slices.Values(l.stored), func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.hash(), b.hash()), cmp.Compare(a.reason, b.reason))
	})
	return list[:min(len(list), maxEvents)]
}

// reasonCount counts the packets with one reason, and stores the first as an example.
type reasonCount struct {
	count int
	first problem
}

// maxReasons is the maximum number of different reasons that are counted. The lab has about twenty, but a
// file can contain any text.
const maxReasons = 48

// packetStats summarizes the packets of a run.
type packetStats struct {
	problems [numKinds]problemSample
	reasons  map[string]*reasonCount
	delays   delaySeries
}

// Bounds of texts of a file, in bytes.
const (
	maxReason      = 80
	maxExplanation = 600
)

// addRow adds a row of packets.csv: its delay if it arrived, and a problem for each reason in the column
// reason, which are separated by "; ". The numbers are limited, because a file can contain any.
func (p *packetStats) addRow(r report.Row) {
	sentUS := limited(r, "send_us", maxMicros)
	e := problem{seq: uint64(limited(r, "seq", 1e15)), copy: int(limited(r, "copy", 63)), sent: sentUS / 1e6,
		delay: -1}
	outcome := r.Text("outcome")
	isMissing := outcome == "lost" || outcome == "in_flight" || outcome == "unknown" || r.Text("recv_us") == ""
	if !isMissing {
		delayUS := limited(r, "recv_us", maxMicros) - sentUS
		e.delay = delayUS / 1000
		p.delays.add(int64(math.Round(sentUS*1000)), int64(math.Round(delayUS*1000)))
	}
	if r.Text("reason") == "" {
		return
	}
	reasons := strings.Split(truncate(r.Text("reason"), maxReason), "; ")
	why := truncate(r.Text("why"), maxExplanation)
	sentences := splitReasons(why)
	for i, reason := range reasons {
		e.reason = reason
		e.why = why
		if len(reasons) == len(sentences) { // each reason has its sentence
			e.why = sentences[i]
		}
		p.addProblem(outcome, e)
	}
}

// maxMicros is the largest time in a file that is used: 1000 h.
const maxMicros = 3.6e12

// limited returns the number in column name, limited to the range from 0 to maximum.
func limited(r report.Row, name string, maximum float64) float64 {
	return min(max(r.Number(name), 0), maximum)
}

// splitReasons splits an explanation of two reasons at the second sentence, which begins with "packet" or
// "copy". It returns any other explanation as one element.
func splitReasons(why string) []string {
	for _, word := range []string{"; packet ", "; copy "} {
		if a, b, ok := strings.Cut(why, word); ok {
			return []string{a, strings.TrimPrefix(word, "; ") + b}
		}
	}
	return []string{why}
}

// addProblem adds a problem of a packet with the given outcome to the sample of its kind and to the count
// of its reason. The example of a reason is its first packet by sequence.
func (p *packetStats) addProblem(outcome string, e problem) {
	k := kindFailed
	switch {
	case strings.HasPrefix(e.reason, "large"):
		k = kindLarge
	case outcome == "lost":
		k = kindLost
	case outcome == "stale" || outcome == "decoded": // decoded, but after its display time
		k = kindLate
	}
	p.problems[k].add(e)
	if p.reasons == nil {
		p.reasons = map[string]*reasonCount{}
	}
	r := p.reasons[e.reason]
	if r == nil {
		if len(p.reasons) >= maxReasons {
			return
		}
		r = &reasonCount{first: e}
		p.reasons[e.reason] = r
	}
	r.count++
	if e.compare(&r.first) < 0 {
		r.first = e
	}
}

// sortedProblems returns the selected problems of a kind in the order of the packets.
func (p *packetStats) sortedProblems(k problemKind) []problem {
	list := p.problems[k].selected()
	slices.SortStableFunc(list, func(a, b problem) int { return a.compare(&b) })
	return list
}

// clone returns a deep copy, which later rows do not change.
func (p *packetStats) clone() packetStats {
	x := *p
	x.reasons = make(map[string]*reasonCount, len(p.reasons))
	for name, r := range p.reasons {
		y := *r
		x.reasons[name] = &y
	}
	for k := range x.problems {
		x.problems[k].stored = slices.Clone(p.problems[k].stored)
	}
	x.delays.buckets = maps.Clone(p.delays.buckets)
	return x
}

// truncate shortens a text from a file to at most maxBytes bytes and an ellipsis.
func truncate(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxBytes], "") + "…" // without a rune that was cut
}
