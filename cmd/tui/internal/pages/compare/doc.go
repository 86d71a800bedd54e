// Package compare is the page "Compare": the running encoders and the saved reports in one table, charts,
// and the changes of the run.
package compare
