// Package states is under way.
package states

import "errors"

var errRange = errors.New("out of range")
