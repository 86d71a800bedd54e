package testkit

import "testing"

// settable has keys with values of type V, such as a configuration or the settings of a link.
type settable[V any] interface {
	Set(key string, value V) error
}

// Set sets keys of x to values, which alternate in pairs.
func Set[V, P any](t testing.TB, x settable[V], pairs ...P) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := x.Set(any(pairs[i]).(string), any(pairs[i+1]).(V)); err != nil {
			t.Fatal(err)
		}
	}
}
