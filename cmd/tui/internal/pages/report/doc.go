// Package report is page 6: what was changed, the saved reports, and two runs side
// by side.
package report
