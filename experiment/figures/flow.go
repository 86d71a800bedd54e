package figures

// Flow contains the figures of one flow of other traffic on the downlink.
type Flow struct {
	Kind         string  `json:"kind"`    // with all parameters, such as "cubic rtt=40ms"
	Label        string  `json:"label"`   // without parameters that have their default
	StartS       float64 `json:"start_s"` // when it started
	StopS        float64 `json:"stop_s"`  // when it stopped, or the end of the run
	Mbps         Figure  `json:"mbit_s"`  // payload that arrived, duplicates excluded, per second between start and stop
	RTTMS        Figure  `json:"rtt_ms"`  // mean round trip; unknown for constant rates
	Sent         int64   `json:"sent"`    // packets
	Lost         int64   `json:"lost"`    // dropped by the queue
	Retransmit   int64   `json:"retransmitted"`
	Timeouts     int64   `json:"timeouts"`          // retransmission timeouts
	SpuriousRTOs int64   `json:"spurious_timeouts"` // of these, undone by F-RTO
}
