// Package labtest is a made-up lab for tests of the dashboard: its snapshots are
// functions of the virtual time, and a Stage shows one page of it without the
// rest of the dashboard. No program imports it.
package labtest
