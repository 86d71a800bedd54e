// Package panes contains the panes that several pages share: the charts over time, the summary
// line, the list of changes with their effects, the bit budget, the line about the link, and the
// series and legends of shadows and of failures.
package panes
