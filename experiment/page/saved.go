package page

import (
	"io"

	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// Pages makes report.html for the folders of reports.
func Pages() report.Pages {
	return report.Pages{
		Run:   func(sampleHead, packetHead []string) report.Page { return saved{newRows(sampleHead, packetHead)} },
		Sweep: writeSweep,
	}
}

// saved is the page of a run that follows its rows.
type saved struct{ *rows }

// Copy implements report.Page.
func (s saved) Copy() report.Page { return saved{s.rows.Clone()} }

// Write implements report.Page.
func (s saved) Write(w io.Writer, r *engine.Result) error {
	run := run{Result: r, Rows: s.rows}
	return run.Write(w)
}
