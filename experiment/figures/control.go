package figures

// Control contains the figures of a send-rate control.
type Control struct {
	Policy     string            `json:"policy"`      // with all parameters
	Held       int64             `json:"held"`        // snapshots held back
	HeldRatio  Figure            `json:"held_ratio"`  // share of the snapshots that were due
	HeldBy     map[string]int64  `json:"held_by"`     // Held by the reason; see endpoint.DecisionReason
	RateCuts   int64             `json:"rate_cuts"`   // decisions that lowered the rate
	TargetKbps Figure            `json:"target_kbps"` // rate at the end; unknown if the policy has none
	Decisions  []ControlDecision `json:"decisions"`   // the newest, oldest first
	Steps      []ControlStep     `json:"steps"`       // changes of the links, oldest first
}

// ControlDecision is a decision of a send-rate control.
type ControlDecision struct {
	TS     float64 `json:"t_s"`
	UntilS float64 `json:"until_s"` // of the last snapshot held back; t_s for a change of the rate
	Held   int     `json:"held"`    // snapshots held back; 0 for a change of the rate
	Reason string  `json:"reason"`
	Text   string  `json:"text"`
}

// ControlStep describes how a lane recovered from a change of its links, until the next change.
type ControlStep struct {
	TS       float64 `json:"t_s"`
	DrainedS Figure  `json:"drained_s"` // time until one-way delays stayed within 50 ms of the least for a second; unknown if they did not
	RateS    Figure  `json:"rate_s"`    // time until 90 % of the packets per second of before the first change were sent; unknown if they were not
}
