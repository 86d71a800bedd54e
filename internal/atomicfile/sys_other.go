//go:build !linux && !darwin

package atomicfile

import "errors"

// exchange cannot be had here.
func exchange(a, b string) error { return errors.ErrUnsupported }
