// Package page makes report.html: one file that a team reads in a browser, without a
// request to anywhere. It shows one run, a sweep, or several reports side by side.
//
// A page is made from what is saved: the report and the rows of samples.csv and
// packets.csv. While a run goes on a Rows follows its rows as they are written, so that the
// page that is saved and the page that is made later from the folder are the same, byte
// for byte. What a Rows keeps is bounded, however long the run: charts are thinned for
// the eye, and the exact values stay in the CSV.
package page
