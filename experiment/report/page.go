package report

import (
	"io"

	"wirelab/experiment/engine"
)

// Page is a page for a browser that is made from the rows of samples.csv and packets.csv.
type Page interface {
	Sample(row []string)
	Packet(row []string)
	// Copy returns a page that goes on from here, for rows that may still change.
	Copy() Page
	// Write writes the page for the result.
	Write(w io.Writer, r *engine.Result) error
}

// Pages makes report.html. The zero value makes none.
type Pages struct {
	Run   func(sampleHead, packetHead []string) Page
	Sweep func(w io.Writer, r *Report) error
}
