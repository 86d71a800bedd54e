//go:build !linux && !darwin

package whole

import "errors"

// exchange cannot be had here.
func exchange(a, b string) error { return errors.ErrUnsupported }
