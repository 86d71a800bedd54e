package figures

// View contains the figures of a sender with a budget, and of what its receiver shows. Errors and ages
// are those of rows that changed in the last 100 ms, compared with the newest frame of the source; so
// the delay of the network is included.
type View struct {
	Policy string `json:"policy"` // with all parameters
	// The budget.
	LimitKbps float64 `json:"limit_kbps" figure:"budget,kbps,1,neutral,packets,main"`
	// Headers and payloads, without IP and UDP.
	UsedKbps Figure `json:"used_kbps" figure:"budget used,kbps,1,neutral,packets,main"`
	// Snapshots for which the budget, or a control, had no room.
	Held          int64  `json:"held" figure:"snapshots held back by the budget,,0,neutral,main"`
	RowsPerPacket Figure `json:"rows_per_packet" figure:"rows per packet,,1,more,main"`
	BitsPerRow    Figure `json:"bits_per_row" figure:"per row,bits,1,packets,main"`
	// Used share of what packets that left rows out could take.
	FillRatio Figure `json:"fill_ratio" figure:"filled part of packets,%,1,more,main"`
	Encodings Figure `json:"encodings_per_packet" figure:"encodings per packet,,2,neutral"`

	// Of positions of cubes.
	ErrorMM *Quantiles `json:"error_mm,omitempty" figure:"error of cubes,mm,0,main:p95"`
	// Of positions of cubes.
	MeanErrorMM *Figure `json:"mean_error_mm,omitempty" figure:"mean error of cubes,mm,0,narrow"`
	// Of orientations of cubes; not measured in a crowd.
	ErrorDeg *Quantiles `json:"error_deg,omitempty" figure:"turn of cubes,°,2"`
	// Of orientations of cubes; not measured in a crowd.
	MeanErrorDeg *Figure `json:"mean_error_deg,omitempty" figure:"mean turn of cubes,°,2,main"`
	// Of rows of other tables: the sum over their fields, in steps.
	Error *Quantiles `json:"error,omitempty" figure:"error of rows,steps,0,main:p95"`
	// Of rows of other tables.
	MeanError *Figure `json:"mean_error,omitempty" figure:"mean error of rows,steps,0,narrow"`
	// Time since the shown value was last the true one.
	RowAgeMS     Quantiles `json:"row_age_ms" figure:"row age,ms,0,main:p99"`
	MeanRowAgeMS Figure    `json:"mean_row_age_ms" figure:"mean row age,ms,0,main"`
	// Mean number of rows that did not change for 100 ms and are shown wrong.
	RestingWrong Figure `json:"resting_wrong_rows" figure:"resting wrong rows,,2,main"`
	// For which a row that should be sent was not.
	LongestWaitMS Figure `json:"longest_wait_ms" figure:"longest row wait,ms,0,main"`
	// From when all motion stopped for half a second to when all rows are right.
	SettledMS Quantiles `json:"settled_ms" figure:"settled after,ms,0"`
}
