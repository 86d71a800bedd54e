package figures

import (
	"slices"
	"strings"

	"wirelab/internal/quantile"
)

// Crowd contains the figures of a run with one sender and many receivers. The other totals of such a run are sums and
// distributions over all clients.
type Crowd struct {
	Clients          int    `json:"clients"`            // that were in the game at any time
	EncodingsPerTick Figure `json:"encodings_per_tick"` // mean number of different payloads of a tick
	MaxEncodings     int    `json:"max_encodings"`      // the largest number
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

	View *CrowdClientView `json:"view,omitempty"` // nil without a budget
}

// CrowdClientView contains the figures of one client under a budget. Errors and ages are those of rows that changed in the
// last 100 ms, as in View: of the positions of cubes in millimetres, and of rows of other tables in steps.
type CrowdClientView struct {
	UsedKbps      Figure `json:"used_kbps"`  // headers and payloads, without IP and UDP
	UsedRatio     Figure `json:"used_ratio"` // share of sender.budget that was used; unknown without it
	Error         Figure `json:"error"`      // mean
	ErrorP95      Figure `json:"error_p95"`
	RowAgeP50MS   Figure `json:"row_age_p50_ms"`
	RowAgeP99MS   Figure `json:"row_age_p99_ms"`
	LongestWaitMS Figure `json:"longest_wait_ms"` // for which a row that should be sent was not
}

// WasInGame reports whether the client was in the game in the time of the figures. If not, they are unknown.
func (c *CrowdClient) WasInGame() bool { return c.WireKbps.known }

// CrowdTiming contains mean durations of the work of a tick in which packets are sent, in microseconds of one core. Only
// ElapsedUS is wall time: parts of a tick run on several cores.
type CrowdTiming struct {
	ChooseUS  *Figure   `json:"choose_us,omitempty"` // choosing the rows of packets under a budget; nil without one
	EncodeUS  Figure    `json:"encode_us"`           // all encodings of the tick
	DecodeUS  Figure    `json:"decode_us"`           // decoding each of them once
	ServerUS  Figure    `json:"server_us"`           // acks, baselines, headers and the uplink, for all clients
	ClientsUS Figure    `json:"clients_us"`          // receivers, displays and links of all clients, which the machines and networks of a real game have
	ElapsedUS Quantiles `json:"elapsed_us"`          // the whole tick
}

// ClientField is a figure of CrowdClient. Of sets CrowdClient.View if it is nil and the figure belongs to it.
type ClientField struct {
	Key      string // in JSON and CSV
	Title    string // in tables, with the unit
	Scale    float64
	Decimals int // in tables
	Of       func(*CrowdClient) *Figure
}

// Text returns the figure of c as tables show it.
func (f *ClientField) Text(c *CrowdClient) string { return f.Of(c).Times(f.Scale).Text(f.Decimals) }

// ClientFields lists the figures of CrowdClient without a budget, BudgetClientFields those with one.
var (
	ClientFields       = allClientFields[:numClientFields]
	BudgetClientFields = allClientFields
)

// numClientFields is the number of figures of CrowdClient that do not belong to View.
var numClientFields = slices.IndexFunc(allClientFields, func(f ClientField) bool { return strings.HasPrefix(f.Key, "view.") })

// ClientFieldsOf returns the figures that list has: those with a budget if the first client has them.
func ClientFieldsOf(list []CrowdClient) []ClientField {
	if len(list) > 0 && list[0].View != nil {
		return BudgetClientFields
	}
	return ClientFields
}

// Fields returns the figures that c has.
func (c *Crowd) Fields() []ClientField { return ClientFieldsOf([]CrowdClient{c.P50}) }

func viewField(key, title string, scale float64, decimals int, of func(*CrowdClientView) *Figure) ClientField {
	return ClientField{"view." + key, title, scale, decimals, func(c *CrowdClient) *Figure {
		if c.View == nil {
			c.View = &CrowdClientView{}
		}
		return of(c.View)
	}}
}

var allClientFields = []ClientField{
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
	viewField("used_kbps", "budget used kbps", 1, 1, func(v *CrowdClientView) *Figure { return &v.UsedKbps }),
	viewField("used_ratio", "budget used %", 100, 1, func(v *CrowdClientView) *Figure { return &v.UsedRatio }),
	viewField("error", "error, mm or steps", 1, 0, func(v *CrowdClientView) *Figure { return &v.Error }),
	viewField("error_p95", "error p95", 1, 0, func(v *CrowdClientView) *Figure { return &v.ErrorP95 }),
	viewField("row_age_p50_ms", "row age ms", 1, 0, func(v *CrowdClientView) *Figure { return &v.RowAgeP50MS }),
	viewField("row_age_p99_ms", "row age p99 ms", 1, 0, func(v *CrowdClientView) *Figure { return &v.RowAgeP99MS }),
	viewField("longest_wait_ms", "longest wait ms", 1, 0, func(v *CrowdClientView) *Figure { return &v.LongestWaitMS }),
}

// namedClient is a CrowdClient with the name of what it contains.
type namedClient struct {
	Name string // such as "p95"
	*CrowdClient
}

// Quantiles returns the quantiles over clients with their names.
func (c *Crowd) Quantiles() []namedClient {
	return []namedClient{{"p5", &c.P5}, {"median", &c.P50}, {"p95", &c.P95}, {"worst", &c.Worst}}
}

// SetQuantiles sets the quantiles to those of clients. A figure that no client has is unknown.
func (c *Crowd) SetQuantiles(clients []CrowdClient) {
	values := make([]float64, 0, len(clients))
	for _, field := range ClientFieldsOf(clients) {
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
