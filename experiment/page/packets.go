package page

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// kind is the sort of trouble that a packet had; each has a line of its own in the chart.
type kind int

// The kinds, the worst first.
const (
	kindFailed kind = iota // no baseline, corrupt, unknown codec, tainted, wrong
	kindLost
	kindLate // stale, or too late for the display
	kindLarge
	numKinds
)

var kindNames = [numKinds]string{"failed", "lost", "late or stale", "large"}

// event is a packet with which something was wrong.
type event struct {
	seq    uint64
	copy   int
	sent   float64 // seconds
	delay  float64 // ms; negative: it never arrived
	reason string
	why    string
}

func (e *event) before(f *event) int {
	return cmp.Or(cmp.Compare(e.seq, f.seq), cmp.Compare(e.copy, f.copy))
}

// hash scatters packets evenly, whatever the rhythm in which they fail.
func (e *event) hash() uint64 {
	h := (e.seq*64 + uint64(e.copy) + 1) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// maxEvents bounds the events of a kind that a page lists.
const maxEvents = 250

// events are those of a kind: all, or after maxEvents about every second of them, then
// every fourth, and so on. Which ones does not depend on the order in which they came.
type events struct {
	n     int
	shift uint
	kept  []event
}

func (l *events) add(e event) {
	l.n++
	if !l.keeps(&e) {
		return
	}
	l.kept = append(l.kept, e)
	for len(l.kept) > maxEvents {
		l.shift++
		l.kept = slices.DeleteFunc(l.kept, func(e event) bool { return !l.keeps(&e) })
	}
}

func (l *events) keeps(e *event) bool { return e.hash()&(1<<l.shift-1) == 0 }

// reason counts the packets of one reason, and keeps the first for an example.
type reason struct {
	n     int
	first event
}

// maxReasons bounds the reasons: there are some twenty, but a file may say what it likes.
const maxReasons = 48

// packets sums the packets of a run up.
type packets struct {
	rows    int
	kinds   [numKinds]events
	reasons map[string]*reason
	delays  delays
}

// longestWhy bounds an explanation, in bytes.
const longestWhy = 600

func (p *packets) add(c cells) {
	p.rows++
	sent := micros(c, "send_us")
	e := event{seq: uint64(min(max(c.number("seq"), 0), 1e15)), copy: int(min(max(c.number("copy"), 0), 63)), sent: sent / 1e6, delay: -1}
	outcome := c.text("outcome")
	arrived := outcome != "lost" && outcome != "in_flight" && outcome != "unknown" && c.text("recv_us") != ""
	if arrived {
		us := micros(c, "recv_us") - sent
		e.delay = us / 1000
		p.delays.add(int64(math.Round(sent*1000)), int64(math.Round(us*1000)))
	}
	said, why := cut(c.text("reason"), 80), cut(c.text("why"), longestWhy)
	if _, has := c.columns["reason"]; !has {
		said, why = oldReason(c, outcome)
	}
	if said == "" {
		return
	}
	sentences := split(why)
	for i, name := range strings.Split(said, "; ") {
		e.reason, e.why = name, why
		if i < len(sentences) && strings.Count(said, "; ")+1 == len(sentences) {
			e.why = sentences[i]
		}
		p.trouble(outcome, e)
	}
}

// micros returns a time of a run, which takes at most 1000 h.
func micros(c cells, name string) float64 { return min(max(c.number(name), 0), 3.6e12) }

// oldReason says what a file without reasons knows.
func oldReason(c cells, outcome string) (said, why string) {
	switch outcome {
	case "", "decoded", "duplicate", "in_flight", "unknown":
		return "", ""
	}
	return strings.ReplaceAll(outcome, "_", " "), strings.TrimSpace("by " + c.text("cause"))
}

// split cuts an explanation of two reasons where the second sentence begins.
func split(why string) []string {
	for _, word := range []string{"; packet ", "; copy "} {
		if a, b, ok := strings.Cut(why, word); ok {
			return []string{a, strings.TrimPrefix(word, "; ") + b}
		}
	}
	return []string{why}
}

func (p *packets) trouble(outcome string, e event) {
	k := kindFailed
	switch {
	case strings.HasPrefix(e.reason, "large"):
		k = kindLarge
	case outcome == "lost":
		k = kindLost
	case outcome == "stale" || outcome == "decoded":
		k = kindLate
	}
	p.kinds[k].add(e)
	if p.reasons == nil {
		p.reasons = map[string]*reason{}
	}
	x := p.reasons[e.reason]
	if x == nil {
		if len(p.reasons) >= maxReasons {
			return
		}
		x = &reason{first: e}
		p.reasons[e.reason] = x
	}
	x.n++
	if e.before(&x.first) < 0 {
		x.first = e
	}
}

// listed returns the events of a kind in the order of their packets.
func (p *packets) listed(k kind) []event {
	list := slices.Clone(p.kinds[k].kept)
	slices.SortFunc(list, func(a, b event) int { return a.before(&b) })
	return list
}

func (p *packets) clone() packets {
	x := *p
	x.reasons = make(map[string]*reason, len(p.reasons))
	for name, r := range p.reasons {
		y := *r
		x.reasons[name] = &y
	}
	for k := range x.kinds {
		x.kinds[k].kept = slices.Clone(p.kinds[k].kept)
	}
	x.delays.buckets = maps.Clone(p.delays.buckets)
	return x
}

// cut shortens a text of somebody's.
func cut(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}
