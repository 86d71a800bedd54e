package figures

import "strings"

// Control contains the figures of a send-rate control.
type Control struct {
	Policy string `json:"policy"` // with all parameters
	// Snapshots held back.
	Held int64 `json:"held" figure:"snapshots held back,,0,neutral"`
	// Share of the snapshots that were due.
	HeldRatio Figure `json:"held_ratio" figure:"snapshots held back,%,2,neutral,main"`
	// Held by the reason; see endpoint.DecisionReason.
	HeldBy HeldCounts `json:"held_by" figure:"snapshots held back by,,0,neutral"`
	// Decisions that lowered the rate.
	RateCuts int64 `json:"rate_cuts" figure:"cuts of the rate,,0,neutral"`
	// Rate at the end; unknown if the policy has none.
	TargetKbps Figure            `json:"target_kbps" figure:"rate of the control,kbps,1,neutral,packets,main"`
	Decisions  []ControlDecision `json:"decisions"` // the newest, oldest first
	Steps      []ControlStep     `json:"steps"`     // changes of the links, oldest first
}

// ControlDecision is a decision of a send-rate control.
type ControlDecision struct {
	TS     float64 `json:"t_s" figure:"from,s,3"`
	UntilS float64 `json:"until_s" figure:"to,s,3"`              // of the last snapshot held back; t_s for a change of the rate
	Held   int     `json:"held" figure:"snapshots held back,,0"` // snapshots held back; 0 for a change of the rate
	Reason string  `json:"reason"`
	Text   string  `json:"text"`
}

// ControlStep describes how a lane recovered from a change of its links, until the next change.
type ControlStep struct {
	TS       float64 `json:"t_s" figure:"change at,s,1"`
	DrainedS Figure  `json:"drained_s" figure:"delay normal after,s,1"`           // time until one-way delays stayed within 50 ms of the least for a second; unknown if they did not
	RateS    Figure  `json:"rate_s" figure:"packets per second normal after,s,1"` // time until 90 % of the packets per second of before the first change were sent; unknown if they were not
}

// HeldCounts contains counts of snapshots held back, by endpoint.DecisionReason.
type HeldCounts map[string]int64

func (c HeldCounts) parts() (list []part) {
	for _, reason := range []string{"rate", "round_trip", "unacked", "drain"} {
		list = append(list, part{reason, " " + strings.ReplaceAll(reason, "_", " "), Known(float64(c[reason]))})
	}
	return list
}
