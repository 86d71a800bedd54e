// Package compare is page 5: all encoders that run side by side, in a table with
// intervals and in one chart.
package compare
