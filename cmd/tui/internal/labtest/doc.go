// Package labtest provides a fake lab for tests of the dashboard. Its snapshots are functions of
// the virtual time only. A Stage shows a single page without the rest of the dashboard.
package labtest
