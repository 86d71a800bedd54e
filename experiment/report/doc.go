// Package report writes the results of runs as JSON, Markdown, CSV, JUnit XML and benchmark lines, reads
// saved reports, compares them, and explains in a sentence why a packet failed. Each file is replaced
// completely or not at all.
package report
