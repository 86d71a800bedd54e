package figures

// Flow contains the figures of one flow of other traffic on the downlink.
type Flow struct {
	Kind         string  `json:"kind"`                             // with all parameters, such as "cubic rtt=40ms"
	Label        string  `json:"label"`                            // without parameters that have their default
	StartS       float64 `json:"start_s" figure:"from,s,1"`        // when it started
	StopS        float64 `json:"stop_s" figure:"to,s,1"`           // when it stopped, or the end of the run
	Mbps         Figure  `json:"mbit_s" figure:"payload,Mbit/s,2"` // that arrived, duplicates excluded, per second between start and stop
	RTTMS        Figure  `json:"rtt_ms" figure:"round trip,ms,1"`  // mean; unknown for constant rates
	Sent         int64   `json:"sent" figure:"sent,,0"`            // packets
	Lost         int64   `json:"lost" figure:"lost,,0"`            // dropped by the queue
	Retransmit   int64   `json:"retransmitted" figure:"retransmitted,,0"`
	Timeouts     int64   `json:"timeouts" figure:"timeouts,,0"` // retransmission timeouts
	SpuriousRTOs int64   `json:"spurious_timeouts"`             // of these, undone by F-RTO
}
