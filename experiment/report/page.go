package report

import (
	"io"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/atomicfile"
)

// Document is the content of report.md and report.html.
type Document interface {
	WriteMarkdown(w io.Writer) error
	WriteHTML(w io.Writer) error
}

// Page collects the samples and the rows of packets.csv for the charts of a document.
type Page interface {
	// Sample adds a sample.
	Sample(s *meters.Sample)
	// Packet adds a row of packets.csv.
	Packet(row Row)
	// Copy returns an independent copy. While the run continues, its unsettled packets are added only to a
	// copy, because their rows may still change.
	Copy() Page
	// Document returns the document of result r.
	Document(r *engine.Result) Document
}

// Pages makes report.md and report.html. A nil function means that they are not written.
type Pages struct {
	// Run returns an empty page of a run.
	Run func() Page
	// Sweep returns the document of a sweep.
	Sweep func(r *Report) Document
}

// DocumentEntries returns the entries of both files in the folder of a report.
func DocumentEntries(d Document) []atomicfile.Entry {
	return []atomicfile.Entry{{Name: "report.md", Write: d.WriteMarkdown},
		{Name: "report.html", Write: d.WriteHTML}}
}
