// Package compare is page 5, "Compare": all running encoders in a table with confidence intervals, in
// a chart of one figure and in a chart of payload ratios.
package compare
