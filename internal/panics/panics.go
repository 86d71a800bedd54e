// Package panics turns panics of goroutines into errors. A panic that a goroutine does not recover
// ends the program at once: a dashboard would leave the terminal in raw mode and lose its
// measurements. Every goroutine that can run under a dashboard therefore calls its work through
// Call or Guard, and passes the error to the code that ends the program.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is a panic that was recovered.
type Error struct {
	Value any    // the argument of panic
	Stack []byte // stack of the goroutine that panicked
}

// Error returns the value and, after an empty line, the stack.
func (e *Error) Error() string { return fmt.Sprintf("%v\n\n%s", e.Value, e.Stack) }

// Recovered returns the error for a value of recover; nil for nil. It stores the current stack, so
// only the deferred function that called recover may call it. An *Error that was passed to panic
// again keeps its stack.
func Recovered(value any) *Error {
	switch value := value.(type) {
	case nil:
		return nil
	case *Error:
		return value
	}
	return &Error{value, debug.Stack()}
}

// Call calls f and returns its error, or an *Error if f panics.
func Call(f func() error) (err error) {
	defer func() {
		if e := Recovered(recover()); e != nil {
			err = e
		}
	}()
	return f()
}

// Guard returns a function for a go statement or sync.WaitGroup.Go. The function calls f and, if f
// panics, calls report with an *Error.
func Guard(report func(error), f func()) func() {
	return func() {
		err := Call(func() error { f(); return nil })
		if err != nil {
			report(err)
		}
	}
}
