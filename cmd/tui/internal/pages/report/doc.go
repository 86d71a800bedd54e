// Package report is the page "Report": the changes of the run, the saved reports, and a comparison of
// two runs.
package report
