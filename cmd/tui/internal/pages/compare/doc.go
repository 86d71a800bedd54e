// Package compare is the page "Compare": all running encoders in a table with confidence intervals, in
// a chart of one figure and in a chart of payload ratios.
package compare
