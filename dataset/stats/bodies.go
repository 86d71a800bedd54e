package stats

import (
	"math"
	"slices"
	"time"

	"wirelab/internal/quantile"
)

// maxPlaces is how many places of a body are looked at one by one.
const maxPlaces = 64

// Bodies counts what makes messages cheap or dear to send: how large they are and how
// often they come, and how much each place tells. The zero Bodies has seen none.
type Bodies struct {
	sizes  quantile.Counts
	places [maxPlaces][256]int64
	pairs  [256][256]int64 // by the byte before; the first of a body counts as following 0
	times  []time.Duration
	seen   map[string]struct{} // bodies, to know a repeated one
	again  int64
}

// mostSeen bounds the bytes that are kept to know repeated bodies.
const mostSeen = 64 << 20

// Add counts a message of that time. Times must not fall.
func (b *Bodies) Add(at time.Duration, body []byte) {
	b.sizes.Add(int64(len(body)))
	b.times = append(b.times, at)
	last := byte(0)
	for i, v := range body {
		if i < maxPlaces {
			b.places[i][v]++
		}
		b.pairs[last][v]++
		last = v
	}
	if b.seen == nil {
		b.seen = map[string]struct{}{}
	}
	if _, known := b.seen[string(body)]; known {
		b.again++
	} else if b.sizes.Sum < mostSeen {
		b.seen[string(body)] = struct{}{}
	}
}

// BodySummary is what messages are like.
type BodySummary struct {
	Messages int64     `json:"messages"`
	Bytes    int64     `json:"bytes"`
	Seconds  float64   `json:"seconds"` // from the first to the last
	Size     sizeStats `json:"size"`
	Gap      gapStats  `json:"gap_ms"` // from one to the next
	// PerSecond is the mean rate of messages, Most the most within any whole second.
	PerSecond float64 `json:"per_second"`
	Most      int64   `json:"most_in_a_second"`
	Kbps      float64 `json:"kbps"` // of payload
	// Order0 and Order1 are the entropy in bits of a byte, and of a byte that follows a
	// known one; both counted on the messages themselves, which flatters few of them.
	Order0   float64      `json:"order0_bits"`
	Order1   float64      `json:"order1_bits"`
	Repeated float64      `json:"repeated"` // share of messages that were sent before, byte for byte
	Places   []placeStats `json:"places"`
}

// sizeStats are sizes of messages in bytes.
type sizeStats struct {
	Mean float64 `json:"mean"`
	Min  int64   `json:"min"`
	P50  int64   `json:"p50"`
	P95  int64   `json:"p95"`
	Max  int64   `json:"max"`
}

// gapStats are times between messages in milliseconds.
type gapStats struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// placeStats is what one place of messages tells.
type placeStats struct {
	At     int     `json:"at"`     // from 0
	Share  float64 `json:"share"`  // of messages that reach so far
	Bits   float64 `json:"bits"`   // entropy of the byte there, by itself
	Values int     `json:"values"` // different ones
	Common byte    `json:"common"` // the most common
	Often  float64 `json:"often"`  // share of messages with that, of those that reach so far
}

// Summary says what was counted.
func (b *Bodies) Summary() BodySummary {
	n := int64(len(b.times))
	s := BodySummary{Messages: n, Bytes: b.sizes.Sum, Repeated: share(b.again, n), Places: []placeStats{}}
	if n == 0 {
		return s
	}
	s.Size = sizeStats{Mean: b.sizes.Mean(), Min: b.sizes.NearestRank(0), P50: b.sizes.NearestRank(0.5), P95: b.sizes.NearestRank(0.95),
		Max: b.sizes.NearestRank(1)}
	s.Seconds = (b.times[n-1] - b.times[0]).Seconds()
	if s.Seconds > 0 {
		s.PerSecond, s.Kbps = float64(n-1)/s.Seconds, float64(8*s.Bytes)/1000/s.Seconds
	}
	s.Gap, s.Most = b.gaps()
	var all [256]int64
	for last := range b.pairs {
		for v, k := range b.pairs[last] {
			all[v] += k
		}
		s.Order1 += entropy(b.pairs[last][:])
	}
	s.Order0, s.Order1 = entropy(all[:])/float64(max(s.Bytes, 1)), s.Order1/float64(max(s.Bytes, 1))
	for at := range b.places {
		if p, any := b.place(at, n); any {
			s.Places = append(s.Places, p)
		}
	}
	return s
}

// gaps returns the times between messages, and the most messages within a second.
func (b *Bodies) gaps() (g gapStats, most int64) {
	var list []time.Duration
	first := 0
	for i, t := range b.times {
		for t-b.times[first] >= time.Second {
			first++
		}
		most = max(most, int64(i-first+1))
		if i > 0 {
			list = append(list, t-b.times[i-1])
		}
	}
	if len(list) == 0 {
		return g, most
	}
	slices.Sort(list)
	at := func(p float64) float64 { return quantile.LowerRank(list, p).Seconds() * 1000 }
	return gapStats{P50: at(0.5), P95: at(0.95), Max: at(1)}, most
}

func (b *Bodies) place(at int, messages int64) (placeStats, bool) {
	p := placeStats{At: at}
	total := int64(0)
	for v, k := range b.places[at] {
		total += k
		if k > 0 {
			p.Values++
		}
		if k > b.places[at][p.Common] {
			p.Common = byte(v)
		}
	}
	p.Share, p.Often = share(total, messages), share(b.places[at][p.Common], total)
	p.Bits = entropy(b.places[at][:]) / float64(max(total, 1))
	return p, total > 0
}

// entropy returns the bits that all of these take together, each value by its share.
func entropy(counts []int64) float64 {
	total := int64(0)
	for _, k := range counts {
		total += k
	}
	bits := 0.0
	for _, k := range counts {
		if k > 0 {
			bits += float64(float64(k) * math.Log2(float64(total)/float64(k)))
		}
	}
	return bits
}
