//go:build !linux && !darwin

package atomicfile

import "errors"

// exchange fails: the system has no such call.
func exchange(a, b string) error { return errors.ErrUnsupported }
