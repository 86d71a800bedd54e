package walkoff

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// What Result.Audit may say.
const (
	AuditPass = "pass"
	AuditFail = "fail"
	AuditOff  = "off" // it was not asked for
)

// Result is how one encoder did. Sizes are exact and the same everywhere; times
// are of this process. An encoder that broke off is scored up to there.
type Result struct {
	Encoder string `json:"encoder"`
	Packets int    `json:"packets"`
	Bytes   int    `json:"bytes"`

	BytesPerPacket        float64 `json:"bytes_per_packet"`
	Kbps                  float64 `json:"kbps"`
	BitsPerCube           float64 `json:"bits_per_cube"`
	BitsPerChangedCube    float64 `json:"bits_per_changed_cube"`    // all bits over the cubes that differ from frame n-6
	ChangedCubesPerPacket float64 `json:"changed_cubes_per_packet"` //

	PacketBytes Sizes `json:"packet_bytes"`
	EncodeUS    Times `json:"encode_us"`
	DecodeUS    Times `json:"decode_us"`

	Lossless bool   `json:"lossless"`
	Audit    string `json:"audit"`
	Problem  string `json:"problem,omitempty"` // why it is not lossless, or not legal
}

// Sizes is a distribution of packet sizes in bytes.
type Sizes struct {
	Min int `json:"min"`
	P50 int `json:"p50"`
	P95 int `json:"p95"`
	P99 int `json:"p99"`
	Max int `json:"max"`
}

// Times is a distribution of times in microseconds.
type Times struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// tickHz is the rate of the walk-off's snapshots, by its rules.
const tickHz = 60

// result sums up, apart from the verdicts.
func (t *tally) result() Result {
	r := Result{Packets: len(t.sizes)}
	if r.Packets == 0 {
		return r
	}
	for _, size := range t.sizes {
		r.Bytes += size
	}
	bits := float64(r.Bytes) * 8
	packets := float64(r.Packets)
	r.BytesPerPacket = round(float64(r.Bytes) / packets)
	r.Kbps = round(bits / packets * tickHz / 1000)
	r.BitsPerCube = round(bits / packets / float64(t.rows))
	r.ChangedCubesPerPacket = round(float64(t.changed) / packets)
	if t.changed > 0 {
		r.BitsPerChangedCube = round(bits / float64(t.changed))
	}
	slices.Sort(t.sizes)
	q := func(p float64) int { return quantile(t.sizes, p) }
	r.PacketBytes = Sizes{Min: q(0), P50: q(.50), P95: q(.95), P99: q(.99), Max: q(1)}
	r.EncodeUS, r.DecodeUS = times(t.encode), times(t.decode)
	return r
}

func times(list []time.Duration) Times {
	slices.Sort(list)
	us := func(p float64) float64 { return float64(quantile(list, p).Nanoseconds()) / 1000 }
	return Times{P50: us(.50), P99: us(.99)}
}

// quantile returns the nearest-rank quantile of a sorted list that is not empty:
// the smallest value that at least a share p of all are not above.
func quantile[T cmp.Ordered](sorted []T, p float64) T {
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// round keeps four decimals: enough to compare by, and the same text everywhere.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
