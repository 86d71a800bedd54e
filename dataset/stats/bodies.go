package stats

import (
	"math"
	"slices"
	"time"

	"wirelab/internal/quantile"
)

// maxOffsets is the number of byte offsets of a body with statistics of their own.
const maxOffsets = 64

// Bodies computes statistics of messages that determine how well they compress: sizes, times, and the
// entropy of bytes. The zero Bodies is empty and ready to use.
type Bodies struct {
	sizes     quantile.Counts
	byOffset  [maxOffsets][256]int64 // number of occurrences, by offset and byte
	byteAfter [256][256]int64        // number of occurrences, by the byte before, 0 for the first, and the byte
	times     []time.Duration
	seen      map[string]struct{} // different bodies, up to maxSeenBytes bytes
	repeated  int64               // number of messages whose body is in seen
}

// maxSeenBytes is the number of bytes up to which bodies are stored to detect repetitions.
const maxSeenBytes = 64 << 20

// Add adds a message sent at the given time. Times must not decrease.
func (b *Bodies) Add(at time.Duration, body []byte) {
	b.sizes.Add(int64(len(body)))
	b.times = append(b.times, at)
	last := byte(0)
	for i, v := range body {
		if i < maxOffsets {
			b.byOffset[i][v]++
		}
		b.byteAfter[last][v]++
		last = v
	}
	if b.seen == nil {
		b.seen = map[string]struct{}{}
	}
	if _, known := b.seen[string(body)]; known {
		b.repeated++
	} else if b.sizes.Sum < maxSeenBytes {
		b.seen[string(body)] = struct{}{}
	}
}

// BodySummary is the statistics of messages.
type BodySummary struct {
	Messages int64     `json:"messages"`
	Bytes    int64     `json:"bytes"`
	Seconds  float64   `json:"seconds"` // time from the first message to the last
	Size     sizeStats `json:"size"`
	Gap      gapStats  `json:"gap_ms"` // times between messages
	// PerSecond is the mean number of messages per second, Most the largest number within any second.
	PerSecond float64 `json:"per_second"`
	Most      int64   `json:"most_in_a_second"`
	Kbps      float64 `json:"kbps"` // rate of the payload, kilobits per second
	// Order0 is the entropy of a byte in bits, Order1 that of a byte given the byte before. Both are
	// those of the observed frequencies, which are too low for small samples.
	Order0   float64       `json:"order0_bits"`
	Order1   float64       `json:"order1_bits"`
	Repeated float64       `json:"repeated"` // fraction of messages equal to an earlier message
	Places   []offsetStats `json:"places"`   // statistics of the first maxOffsets byte offsets
}

// sizeStats is the distribution of the sizes of messages in bytes.
type sizeStats struct {
	Mean float64 `json:"mean"`
	Min  int64   `json:"min"`
	P50  int64   `json:"p50"`
	P95  int64   `json:"p95"`
	Max  int64   `json:"max"`
}

// gapStats is the distribution of the times between messages in milliseconds.
type gapStats struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// offsetStats is the statistics of the bytes at one offset of messages.
type offsetStats struct {
	At     int     `json:"at"`     // offset, from 0
	Share  float64 `json:"share"`  // fraction of messages that are long enough
	Bits   float64 `json:"bits"`   // entropy of the byte
	Values int     `json:"values"` // number of different bytes
	Common byte    `json:"common"` // the most frequent byte
	Often  float64 `json:"often"`  // fraction of the messages that reach this offset with the most frequent byte there
}

// Summary returns the statistics of the messages so far. Without messages, all numbers are 0.
func (b *Bodies) Summary() BodySummary {
	n := int64(len(b.times))
	s := BodySummary{Messages: n, Bytes: b.sizes.Sum, Repeated: share(b.repeated, n), Places: []offsetStats{}}
	if n == 0 {
		return s
	}
	s.Size = sizeStats{Mean: b.sizes.Mean(), Min: b.sizes.NearestRank(0), P50: b.sizes.NearestRank(0.5), P95: b.sizes.NearestRank(0.95),
		Max: b.sizes.NearestRank(1)}
	s.Seconds = (b.times[n-1] - b.times[0]).Seconds()
	if s.Seconds > 0 {
		// s.Seconds has n-1 times between messages.
		s.PerSecond, s.Kbps = float64(n-1)/s.Seconds, float64(8*s.Bytes)/1000/s.Seconds
	}
	s.Gap, s.Most = b.gaps() // Most is the largest number of messages within a second
	var all [256]int64
	for last := range b.byteAfter {
		for v, count := range b.byteAfter[last] {
			all[v] += count
		}
		s.Order1 += entropyBits(b.byteAfter[last][:])
	}
	s.Order0, s.Order1 = entropyBits(all[:])/float64(max(s.Bytes, 1)), s.Order1/float64(max(s.Bytes, 1))
	for offset := range b.byOffset {
		if p, reached := b.statsAt(offset, n); reached {
			s.Places = append(s.Places, p)
		}
	}
	return s
}

// gaps returns the distribution of the times between messages, and the largest number of messages
// within a second.
func (b *Bodies) gaps() (g gapStats, maxPerSecond int64) {
	var list []time.Duration
	first := 0
	for i, t := range b.times {
		for t-b.times[first] >= time.Second {
			first++
		}
		maxPerSecond = max(maxPerSecond, int64(i-first+1))
		if i > 0 {
			list = append(list, t-b.times[i-1])
		}
	}
	if len(list) == 0 {
		return g, maxPerSecond
	}
	slices.Sort(list)
	quantileMs := func(p float64) float64 { return quantile.LowerRank(list, p).Seconds() * 1000 }
	return gapStats{P50: quantileMs(0.5), P95: quantileMs(0.95), Max: quantileMs(1)}, maxPerSecond
}

// statsAt returns the statistics of the bytes at an offset. reached is false if no message is long enough.
// messages is the number of all messages.
func (b *Bodies) statsAt(offset int, messages int64) (p offsetStats, reached bool) {
	p.At = offset
	total := int64(0)
	for v, count := range b.byOffset[offset] {
		total += count
		if count > 0 {
			p.Values++
		}
		if count > b.byOffset[offset][p.Common] {
			p.Common = byte(v)
		}
	}
	p.Share, p.Often = share(total, messages), share(b.byOffset[offset][p.Common], total)
	p.Bits = entropyBits(b.byOffset[offset][:]) / float64(max(total, 1))
	return p, total > 0
}

// entropyBits returns the number of bits that all counted values take together with an ideal code for their
// frequencies. counts holds how often each value occurs.
func entropyBits(counts []int64) float64 {
	total := int64(0)
	for _, count := range counts {
		total += count
	}
	bits := 0.0
	for _, count := range counts {
		if count > 0 {
			bits += float64(float64(count) * math.Log2(float64(total)/float64(count)))
		}
	}
	return bits
}
