package page

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// Pages returns the functions that make report.md and report.html of reports.
func Pages() report.Pages {
	return report.Pages{
		Run:   func() report.Page { return runPage{&rows{}} },
		Sweep: func(r *report.Report) report.Document { return sweepDocument(r) },
	}
}

// runPage implements report.Page: it collects the rows of a run in progress.
type runPage struct{ *rows }

func (s runPage) Copy() report.Page { return runPage{s.rows.Clone()} }

func (s runPage) Document(r *engine.Result) report.Document {
	run := run{Result: r, Rows: s.rows}
	if r.Totals.Crowd != nil { // a crowd has no samples and no list of packets
		run.Rows = nil
	}
	return run.document()
}
