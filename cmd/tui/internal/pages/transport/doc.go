// Package transport is the page "Flow": the loop between queue, round trip, baseline and packet size
// over time, and what the policies for queues, rates, redundancy and playout do about it.
package transport
