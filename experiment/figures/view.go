package figures

// View contains the figures of a sender with a budget, and of what its receiver shows. Errors and ages are those of rows
// that changed in the last 100 ms, compared with the newest frame of the source; so the delay of the network is included.
type View struct {
	Policy        string  `json:"policy"`     // with all parameters
	LimitKbps     float64 `json:"limit_kbps"` // the budget
	UsedKbps      Figure  `json:"used_kbps"`  // headers and payloads, without IP and UDP
	Over          int64   `json:"over"`       // packets with which 100 ms exceeded what the budget allows; must be 0
	Held          int64   `json:"held"`       // snapshots for which the budget, or a control, had no room
	RowsPerPacket Figure  `json:"rows_per_packet"`
	BitsPerRow    Figure  `json:"bits_per_row"`
	FillRatio     Figure  `json:"fill_ratio"` // used share of what packets that left rows out could take
	Encodings     Figure  `json:"encodings_per_packet"`

	ErrorMM       *Quantiles `json:"error_mm,omitempty"`       // of positions of cubes
	MeanErrorMM   *Figure    `json:"mean_error_mm,omitempty"`  // of positions of cubes
	ErrorDeg      *Quantiles `json:"error_deg,omitempty"`      // of orientations of cubes; not measured in a crowd
	MeanErrorDeg  *Figure    `json:"mean_error_deg,omitempty"` // of orientations of cubes; not measured in a crowd
	Error         *Quantiles `json:"error,omitempty"`          // of rows of other tables: the sum over their fields, in steps
	MeanError     *Figure    `json:"mean_error,omitempty"`     // of rows of other tables
	RowAgeMS      Quantiles  `json:"row_age_ms"`               // time since the shown value was last the true one
	MeanRowAgeMS  Figure     `json:"mean_row_age_ms"`
	RestingWrong  Figure     `json:"resting_wrong_rows"` // mean number of rows that did not change for 100 ms and are shown wrong
	LongestWaitMS Figure     `json:"longest_wait_ms"`    // for which a row that should be sent was not
	SettledMS     Quantiles  `json:"settled_ms"`         // from when all motion stopped for half a second to when all rows are right
}
