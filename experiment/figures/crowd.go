package figures

import (
	"slices"

	"wirelab/internal/quantile"
)

// Crowd contains the figures of a run with one sender and many receivers. The other totals of such a run are sums and
// distributions over all clients.
type Crowd struct {
	Clients          int     `json:"clients"`              // that were in the game at any time
	EncodingsPerTick Figure  `json:"encodings_per_tick"`   // mean number of different payloads of a tick
	MaxEncodings     int     `json:"max_encodings"`        // the largest number
	MemoRatio        *Figure `json:"memo_ratio,omitempty"` // share of packets encoded with the memo of an anchor; nil without anchors
	// UplinkPeakMS is the longest wait of a packet for the server's uplink; nil without crowd.uplink_rate.
	UplinkPeakMS *Figure `json:"uplink_peak_ms,omitempty"`
	// Nearest-rank quantiles over clients, of each figure separately. Worst is the largest value.
	P5    CrowdClient `json:"p5"`
	P50   CrowdClient `json:"p50"`
	P95   CrowdClient `json:"p95"`
	Worst CrowdClient `json:"worst"`
}

// CrowdClient contains the figures of one client. More is worse for all of them.
type CrowdClient struct {
	PayloadKbps      Figure `json:"payload_kbps"`
	WireKbps         Figure `json:"wire_kbps"`
	BaselineAgeTicks Figure `json:"baseline_age_ticks"` // mean
	LossRatio        Figure `json:"loss_ratio"`         // share of packets lost
	Failures         Figure `json:"failures"`           // packets that arrived without giving the receiver a correct frame
	RoundTripMS      Figure `json:"round_trip_ms"`      // of the links, without jitter
	AgeMS            Figure `json:"age_ms"`             // mean age of the displayed state; unknown for data that are not interpolated
	Playout          struct {
		StarvedRatio    Figure `json:"starved_ratio"`
		Late            Figure `json:"late"`
		LongestFreezeMS Figure `json:"longest_freeze_ms"`
	} `json:"playout"` // as in Playout
}

// WasInGame reports whether the client was in the game in the time of the figures. If not, they are unknown.
func (c *CrowdClient) WasInGame() bool { return c.WireKbps.known }

// CrowdTiming contains mean durations of the work of a tick in which packets are sent, in microseconds of one core. Only
// ElapsedUS is wall time: parts of a tick run on several cores.
type CrowdTiming struct {
	EncodeUS  Figure    `json:"encode_us"`  // all encodings of the tick
	DecodeUS  Figure    `json:"decode_us"`  // decoding each of them once
	ServerUS  Figure    `json:"server_us"`  // acks, baselines, headers and the uplink, for all clients
	ClientsUS Figure    `json:"clients_us"` // receivers, displays and links of all clients, which the machines and networks of a real game have
	ElapsedUS Quantiles `json:"elapsed_us"` // the whole tick
}

// ClientField is a figure of CrowdClient.
type ClientField struct {
	Key      string // in JSON and CSV
	Title    string // in tables, with the unit
	Scale    float64
	Decimals int // in tables
	Of       func(*CrowdClient) *Figure
}

// Text returns the figure of c as tables show it.
func (f *ClientField) Text(c *CrowdClient) string { return f.Of(c).Times(f.Scale).Text(f.Decimals) }

// ClientFields lists the figures of CrowdClient.
var ClientFields = []ClientField{
	{"payload_kbps", "payload kbps", 1, 1, func(c *CrowdClient) *Figure { return &c.PayloadKbps }},
	{"wire_kbps", "wire kbps", 1, 1, func(c *CrowdClient) *Figure { return &c.WireKbps }},
	{"baseline_age_ticks", "baseline age, ticks", 1, 1, func(c *CrowdClient) *Figure { return &c.BaselineAgeTicks }},
	{"loss_ratio", "lost %", 100, 2, func(c *CrowdClient) *Figure { return &c.LossRatio }},
	{"failures", "failures", 1, 0, func(c *CrowdClient) *Figure { return &c.Failures }},
	{"round_trip_ms", "round trip ms", 1, 0, func(c *CrowdClient) *Figure { return &c.RoundTripMS }},
	{"age_ms", "age ms", 1, 0, func(c *CrowdClient) *Figure { return &c.AgeMS }},
	{"playout.starved_ratio", "starved %", 100, 2, func(c *CrowdClient) *Figure { return &c.Playout.StarvedRatio }},
	{"playout.late", "late snapshots", 1, 0, func(c *CrowdClient) *Figure { return &c.Playout.Late }},
	{"playout.longest_freeze_ms", "freeze ms", 1, 0, func(c *CrowdClient) *Figure { return &c.Playout.LongestFreezeMS }},
}

// NamedClient is a CrowdClient with the name of what it contains.
type NamedClient struct {
	Name string // such as "p95"
	*CrowdClient
}

// Quantiles returns the quantiles over clients with their names.
func (c *Crowd) Quantiles() []NamedClient {
	return []NamedClient{{"p5", &c.P5}, {"median", &c.P50}, {"p95", &c.P95}, {"worst", &c.Worst}}
}

// SetQuantiles sets the quantiles to those of clients. A figure that no client has is unknown.
func (c *Crowd) SetQuantiles(clients []CrowdClient) {
	values := make([]float64, 0, len(clients))
	for _, field := range ClientFields {
		values = values[:0]
		for i := range clients {
			if v, known := field.Of(&clients[i]).Value(); known {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		for i, at := range []float64{.05, .5, .95, 1} {
			var v Figure
			if len(values) > 0 {
				v = Known(quantile.NearestRank(values, at))
			}
			*field.Of(c.Quantiles()[i].CrowdClient) = v
		}
	}
}
