// Package panes contains the panes that several pages share: the charts over time, the summary
// line, the list of changes with their effects, the bit budget, and the line about the link. A chart
// over time is a timeChart: a row of lines with their values, styles and figures.
package panes
