// Package page writes report.html: a self-contained page about one run, a sweep, or a comparison of
// several reports, which loads nothing from the network.
//
// The input is a saved report with the rows of its samples.csv and packets.csv. During a run the rows
// are processed as they are written, so the page saved with the run and a page written later from
// the folder are equal byte for byte. Memory is bounded for runs of any length: charts are thinned,
// and the exact values are in the CSV files.
package page
