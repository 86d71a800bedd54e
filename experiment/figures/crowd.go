package figures

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"wirelab/internal/quantile"
)

// Crowd contains the figures of a run with one sender and many receivers. The other totals of such a run
// are sums and distributions over all clients.
type Crowd struct {
	// That were in the game at any time.
	Clients int `json:"clients" figure:"clients,,0"`
	// Mean number of different payloads of a tick.
	EncodingsPerTick Figure `json:"encodings_per_tick" figure:"encodings a tick,,2,main"`
	// The largest number.
	MaxEncodings int `json:"max_encodings" figure:"most encodings of a tick,,0"`
	// UplinkPeakMS is the longest wait of a packet for the server's uplink; nil without crowd.uplink_rate.
	UplinkPeakMS *Figure `json:"uplink_peak_ms,omitempty" figure:"longest wait for the uplink,ms,1"`
	// Nearest-rank quantiles over clients, of each figure separately. Worst is the largest value.
	P5    CrowdClient `json:"p5" figure:"p5 of clients"`
	P50   CrowdClient `json:"p50" figure:"median client"`
	P95   CrowdClient `json:"p95" figure:"p95 of clients"`
	Worst CrowdClient `json:"worst" figure:"worst client"`
}

// CrowdClient contains the figures of one client. More is worse for all of them.
type CrowdClient struct {
	PayloadKbps Figure `json:"payload_kbps" figure:"payload,kbps,1,packets"`
	WireKbps    Figure `json:"wire_kbps" figure:"on the wire,kbps,1,packets"`
	// Mean.
	BaselineAgeTicks Figure `json:"baseline_age_ticks" figure:"baseline age,ticks,1"`
	// Share of packets lost.
	LossRatio Figure `json:"loss_ratio" figure:"loss,%,2"`
	// Packets that arrived without giving the receiver a correct frame.
	Failures Figure `json:"failures" figure:"failures,,0"`
	// Of the links, without jitter.
	RoundTripMS Figure `json:"round_trip_ms" figure:"round trip,ms,0"`
	// Mean age of the displayed state; unknown for data that are not interpolated.
	AgeMS   Figure `json:"age_ms" figure:"display age,ms,0"`
	Playout struct {
		StarvedRatio    Figure `json:"starved_ratio" figure:"display starved,%,2"`
		Late            Figure `json:"late" figure:"late snapshots,,0"`
		LongestFreezeMS Figure `json:"longest_freeze_ms" figure:"longest freeze,ms,0"`
	} `json:"playout"` // as in Playout

	View *CrowdClientView `json:"view,omitempty"` // nil without a budget
}

// CrowdClientView contains the figures of one client under a budget. Errors and ages are those of rows
// that changed in the last 100 ms, as in View: of the positions of cubes in millimetres, and of rows of
// other tables in steps.
type CrowdClientView struct {
	// Headers and payloads, without IP and UDP.
	UsedKbps Figure `json:"used_kbps" figure:"budget used,kbps,1,packets"`
	// Share of sender.budget that was used; unknown without it.
	UsedRatio Figure `json:"used_ratio" figure:"budget used,%,1"`
	// Mean.
	Error       Figure `json:"error" figure:"error,mm or steps,0"`
	ErrorP95    Figure `json:"error_p95" figure:"error p95,mm or steps,0"`
	RowAgeP50MS Figure `json:"row_age_p50_ms" figure:"row age,ms,0"`
	RowAgeP99MS Figure `json:"row_age_p99_ms" figure:"row age p99,ms,0"`
	// For which a row that should be sent was not.
	LongestWaitMS Figure `json:"longest_wait_ms" figure:"longest row wait,ms,0"`
}

// WasInGame reports whether the client was in the game in the time of the figures. If not, they are unknown.
func (c *CrowdClient) WasInGame() bool { return c.WireKbps.known }

// CrowdTiming contains mean durations of the work of a tick in which packets are sent, in microseconds
// of one core. Only ElapsedUS is wall time: parts of a tick run on several cores.
type CrowdTiming struct {
	// Nil without a budget.
	ChooseUS *Figure `json:"choose_us,omitempty" figure:"choosing the rows of packets,µs,0"`
	EncodeUS Figure  `json:"encode_us" figure:"encoding a tick,µs,0"`
	// Decoding each of them once.
	DecodeUS Figure `json:"decode_us" figure:"decoding (not work of a server),µs,0"`
	// For all clients.
	ServerUS Figure `json:"server_us" figure:"acks and baselines of a tick,µs,0"`
	// Which the machines and networks of a real game have.
	ClientsUS Figure    `json:"clients_us" figure:"receivers and links (not work of a server),µs,0"`
	ElapsedUS Quantiles `json:"elapsed_us" figure:"elapsed,µs,0"`
}

// ClientField is a figure of CrowdClient.
type ClientField struct {
	Row
	index []int // of the field in CrowdClient
}

// Of returns the figure of c. It sets CrowdClient.View if it is nil and the figure belongs to it.
func (f *ClientField) Of(c *CrowdClient) *Figure {
	if c.View == nil && f.IsOfBudget() {
		c.View = &CrowdClientView{}
	}
	return reflect.ValueOf(c).Elem().FieldByIndex(f.index).Addr().Interface().(*Figure)
}

// Text returns the figure of c in its unit.
func (f *ClientField) Text(c *CrowdClient) string { return f.Of(c).FormatWith(f.Row.Text, "-") }

// IsOfBudget reports whether only clients under a budget have the figure.
func (f *ClientField) IsOfBudget() bool { return strings.HasPrefix(f.Key, "view.") }

// ClientFields returns the figures of CrowdClient, those under a budget last.
var ClientFields = sync.OnceValue(func() (list []ClientField) {
	indices := figureIndices(reflect.TypeFor[CrowdClient](), nil)
	visit(reflect.ValueOf(CrowdClient{}), Row{}, true, func(r Row, _ Figure) {
		list = append(list, ClientField{r, indices[len(list)]})
	})
	return list
})

// figureIndices returns the indices of all figures in a struct and its parts, in the order of visit.
func figureIndices(t reflect.Type, parent []int) (list [][]int) {
	for i := range t.NumField() {
		index, part := append(slices.Clip(parent), i), t.Field(i).Type
		if part.Kind() == reflect.Pointer {
			part = part.Elem()
		}
		if part == reflect.TypeFor[Figure]() {
			list = append(list, index)
		} else {
			list = append(list, figureIndices(part, index)...)
		}
	}
	return list
}

// ClientFieldsOf returns the figures that list has: those under a budget only if the first client has them.
func ClientFieldsOf(list []CrowdClient) []ClientField {
	fields := ClientFields()
	if len(list) > 0 && list[0].View != nil {
		return fields
	}
	return fields[:slices.IndexFunc(fields, func(f ClientField) bool { return f.IsOfBudget() })]
}

// Fields returns the figures that c has.
func (c *Crowd) Fields() []ClientField { return ClientFieldsOf([]CrowdClient{c.P50}) }

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
