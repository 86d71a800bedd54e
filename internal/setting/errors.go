package setting

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Every *KeyError wraps one of these errors.
var (
	// ErrUnknown means that there is no key, choice, model or profile of that name.
	ErrUnknown = errors.New("unknown name")
	// ErrValue means that the value is not valid for the key.
	ErrValue = errors.New("bad value")
)

// KeyError describes what could not be set, and what was expected.
type KeyError struct {
	Key      string   // the key as the user wrote it
	Value    string   // the value as the user wrote it, strings quoted; "" if the key itself is unknown
	Expected string   // continues the sentence after "expected"
	Known    []string // the valid names, if the error is about an unknown name
}

func (e *KeyError) Error() string {
	if e.Value == "" { // the name itself is unknown
		return fmt.Sprintf("unknown %s %q: expected one of %s", e.nameKind(), e.Key, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("%s: got %s, expected %s", e.Key, e.Value, e.Expected)
}

// nameKind returns what the unknown name is: "key", or the kind in Expected.
func (e *KeyError) nameKind() string {
	if e.Expected == "" {
		return "key"
	}
	return e.Expected
}

// Unwrap returns ErrUnknown or ErrValue.
func (e *KeyError) Unwrap() error {
	if len(e.Known) > 0 {
		return ErrUnknown
	}
	return ErrValue
}

// Unknown returns the unknown name and the valid ones, so that a caller can suggest a similar one.
// known is empty for errors of another kind.
func (e *KeyError) Unknown() (name string, known []string) {
	if len(e.Known) == 0 {
		return "", nil
	}
	if e.Value == "" { // the key itself is unknown, not a name in its value
		return e.Key, slices.Clone(e.Known)
	}
	if name, err := strconv.Unquote(e.Value); err == nil {
		return name, slices.Clone(e.Known)
	}
	return e.Value, slices.Clone(e.Known)
}

// FormatValue formats a value for a message, truncated to 60 bytes.
func FormatValue(value any) string {
	text := fmt.Sprint(value)
	if s, ok := value.(string); ok {
		text = fmt.Sprintf("%q", s)
	}
	const maxBytes = 60
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "..."
	}
	return text
}
