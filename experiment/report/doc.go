// Package report writes down what a run measured: the report as JSON, Markdown and
// CSV, each file whole or not at all, and sentences that say why a packet failed. It
// reads reports that were saved before.
package report
