package page

import (
	"io"

	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// Pages returns the functions that write report.html into the folders of reports.
func Pages() report.Pages {
	return report.Pages{
		Run:   func(sampleHead, packetHead []string) report.Page { return runPage{newRows(sampleHead, packetHead)} },
		Sweep: writeSweep,
	}
}

// runPage implements report.Page: it collects the rows of a run in progress.
type runPage struct{ *rows }

func (s runPage) Copy() report.Page { return runPage{s.rows.Clone()} }

func (s runPage) Write(w io.Writer, r *engine.Result) error {
	run := run{Result: r, Rows: s.rows}
	if r.Totals.Crowd != nil { // a crowd has no samples and no list of packets
		run.Rows = nil
	}
	return run.Write(w)
}
