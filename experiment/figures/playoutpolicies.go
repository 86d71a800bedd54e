package figures

// PlayoutComparison contains the measurements of several playout policies on the same arrivals, without the three
// seconds after the first one.
type PlayoutComparison struct {
	FromS float64         `json:"from_s"` // when the comparison began, in seconds
	List  []PlayoutPolicy `json:"list"`   // the display's own policy first
	Fixed []FixedDelay    `json:"fixed"`  // fixed delays, the shortest first: the curve of starvation against age
}

// PlayoutPolicy contains the measurements of one playout policy.
type PlayoutPolicy struct {
	Policy          string    `json:"policy"` // with all parameters
	Label           string    `json:"label"`  // without parameters that have their default
	Displayed       int64     `json:"displayed"`
	StarvedRatio    Figure    `json:"starved_ratio" figure:"starved,%,2,main"`
	Freezes         int64     `json:"freezes"`                                             // runs of consecutive starved ticks
	LongestFreezeMS Figure    `json:"longest_freeze_ms" figure:"longest freeze,ms,0,main"` // the longest of them
	AgeMS           Quantiles `json:"age_ms" figure:"age,ms,0,main:p50,main:p95"`          // of the displayed state
	SpeedChanges    int64     `json:"speed_changes" figure:"speed changes,,0,main"`        // changes between normal speed, faster and slower
	Jumps           int64     `json:"jumps" figure:"jumps,,0,main"`                        // ticks that advanced by less than half a tick or by more than one and a half
	ShiftedMS       float64   `json:"shifted_ms" figure:"shifted,ms,0,main"`               // sum of the deviations from normal speed

	// BestFixedMS is the shortest fixed delay that starves at most as often, in hindsight. VsBestFixedMS is by how
	// much the median age exceeds that of this delay. Both are unknown if every fixed delay starves more often.
	BestFixedMS   Figure `json:"best_fixed_ms" figure:"best fixed delay,ms,0,main"`
	VsBestFixedMS Figure `json:"vs_best_fixed_ms" figure:"median age against it,ms,0,main"`
}

// FixedDelay is a point of the curve of fixed playout delays.
type FixedDelay struct {
	DelayMS      float64 `json:"delay_ms"`
	StarvedRatio Figure  `json:"starved_ratio"` // described by the rows of PlayoutPolicy, as is AgeMS
	AgeMS        Figure  `json:"age_ms"`        // median age of the displayed state
}

// AddPolicy adds the measurements of a policy, and compares it with the fixed delays, which must be set.
func (c *PlayoutComparison) AddPolicy(p PlayoutPolicy) {
	starved, known := p.StarvedRatio.Value()
	for _, f := range c.Fixed {
		if other, measured := f.StarvedRatio.Value(); known && measured && other <= starved {
			p.BestFixedMS = Known(f.DelayMS)
			p.VsBestFixedMS = Known(p.AgeMS.P50 - f.AgeMS.Or(0))
			break
		}
	}
	c.List = append(c.List, p)
}
