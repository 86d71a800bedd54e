package report

import (
	"io"

	"wirelab/experiment/engine"
)

// Page builds report.html from the rows of samples.csv and packets.csv.
type Page interface {
	// Sample adds a row of samples.csv.
	Sample(row []string)
	// Packet adds a row of packets.csv.
	Packet(row []string)
	// Copy returns an independent copy. While the run continues, its unsettled packets are added only to a copy,
	// because their rows may still change.
	Copy() Page
	// Write writes the page for result r.
	Write(w io.Writer, r *engine.Result) error
}

// Pages creates report.html. A nil function means that no page is written.
type Pages struct {
	// Run returns an empty page of a run. The arguments are the column names of the two files.
	Run func(sampleHead, packetHead []string) Page
	// Sweep writes the page of a sweep.
	Sweep func(w io.Writer, r *Report) error
}
