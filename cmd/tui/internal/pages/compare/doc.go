// Package compare is page 5: all encoders that run side by side, in a table with
// intervals, in a chart of any figure and in one of ratios.
package compare
