package walkoff

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/internal/quantile"
)

// The values of Result.Audit.
const (
	auditPass = "pass"
	auditFail = "fail"
	auditOff  = "off" // no audit was requested
)

// Result is the score of one encoder. Sizes are exact and reproducible; times are of
// this process. An encoder that failed is scored up to the failure; in JSON, only Packets and Bytes are.
type Result struct {
	Encoder string `json:"encoder"`
	Params  string `json:"params,omitempty"`  // parameters that differ from the encoder's defaults, such as "small=6"
	Version int    `json:"version,omitempty"` // of its packets; 0 for a plugin
	Packets int    `json:"packets"`
	Bytes   int    `json:"bytes"`

	BytesPerPacket float64  `json:"bytes_per_packet"`
	Kbps           float64  `json:"kbps"`
	OfGame         *float64 `json:"of_game,omitempty"` // demos only: ratio to the bytes of the game itself, without keyframes
	*cubeFigures            // cubes only
	itemFigures

	PacketBytes sizes   `json:"packet_bytes"`
	EncodeUS    times   `json:"encode_us"`
	DecodeUS    times   `json:"decode_us"`
	Timing      *timing `json:"timing,omitempty"` // nil without Options.Session or if not lossless
	// RunsAs is encoders.Plugin.Runs if the encoder is a plugin, whose times are not those of native code.
	RunsAs string `json:"runs_as,omitempty"`

	Lossless bool   `json:"lossless"`
	Audit    string `json:"audit"`
	Problem  string `json:"problem,omitempty"` // why the encoder is not lossless or failed the audit
}

// MarshalJSON returns the result as JSON. If the encoder is not lossless, all figures but Packets and
// Bytes are null: they would be of fewer frames than those of other encoders.
func (r Result) MarshalJSON() ([]byte, error) {
	type scored Result // has no MarshalJSON
	if r.Lossless {
		return json.Marshal(scored(r))
	}
	var fields map[string]any
	data, err := json.Marshal(scored(r))
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	for key, value := range fields {
		_, isNumber := value.(float64)
		_, isDistribution := value.(map[string]any)
		if (isNumber || isDistribution) && !slices.Contains([]string{"packets", "bytes", "version"}, key) {
			fields[key] = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// Label returns the name of the encoder and the parameters that differ from its defaults, as in "rotor
// xy_small=5".
func (r *Result) Label() string { return strings.TrimSpace(r.Encoder + " " + r.Params) }

// itemFigures are the figures per item, a row of the schema.
type itemFigures struct {
	BitsPerItem           float64 `json:"bits_per_item"`
	BitsPerChangedItem    float64 `json:"bits_per_changed_item"` // all bits, divided by the rows that differ from frame n-6
	ChangedItemsPerPacket float64 `json:"changed_items_per_packet"`
}

// cubeFigures are the same figures for cubes, with the names that the walk-off uses.
type cubeFigures struct {
	BitsPerCube           float64 `json:"bits_per_cube"`
	BitsPerChangedCube    float64 `json:"bits_per_changed_cube"`
	ChangedCubesPerPacket float64 `json:"changed_cubes_per_packet"`
}

// sizes is a distribution of packet sizes in bytes.
type sizes struct {
	Min int `json:"min"`
	P50 int `json:"p50"`
	P95 int `json:"p95"`
	P99 int `json:"p99"`
	Max int `json:"max"`
}

// times is a distribution of times in microseconds.
type times struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// result returns the figures of the tally; all are 0 without packets. It does not set Encoder, Version,
// RunsAs, OfGame, Timing, Lossless, Audit and Problem.
func (t *tally) result() Result {
	r := Result{Packets: len(t.sizes)}
	if frame.IsCubes(t.schema) {
		r.cubeFigures = &cubeFigures{}
	}
	if r.Packets == 0 {
		return r
	}
	for _, size := range t.sizes {
		r.Bytes += size
	}
	bits := float64(r.Bytes) * 8
	packets := float64(r.Packets)
	r.BytesPerPacket = round(float64(r.Bytes) / packets)
	r.Kbps = round(bits / packets * float64(t.schema.TickHz) / 1000) // one packet per tick
	r.BitsPerItem = round(bits / packets / float64(t.schema.Rows))
	r.ChangedItemsPerPacket = round(float64(t.changed) / packets)
	if t.changed > 0 {
		r.BitsPerChangedItem = round(bits / float64(t.changed))
	}
	if r.cubeFigures != nil {
		*r.cubeFigures = cubeFigures{r.BitsPerItem, r.BitsPerChangedItem, r.ChangedItemsPerPacket}
	}
	slices.Sort(t.sizes)
	q := func(p float64) int { return quantile.NearestRank(t.sizes, p) }
	r.PacketBytes = sizes{Min: q(0), P50: q(.50), P95: q(.95), P99: q(.99), Max: q(1)}
	r.EncodeUS, r.DecodeUS = codecTimes(t.encode), codecTimes(t.decode)
	return r
}

// codecTimes returns percentiles of a list of nanoseconds, which it sorts.
func codecTimes(list []int64) times {
	slices.Sort(list)
	us := func(p float64) float64 { return float64(quantile.NearestRank(list, p)) / 1000 }
	return times{P50: us(.50), P99: us(.99)}
}

// round rounds to four decimals, so that results print the same on all machines.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }
