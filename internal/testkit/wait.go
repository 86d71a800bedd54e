package testkit

import (
	"testing"
	"time"
)

// WaitFor waits until done returns true. After a minute it fails the test and names what it waited for.
func WaitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timeout waiting for ", what)
		}
	}
}
