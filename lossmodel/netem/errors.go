package netem

import (
	"fmt"

	"wirelab/internal/setting"
)

// SyntaxError is a word that Parse does not accept. It wraps setting.ErrUnknown if a name was
// expected, otherwise setting.ErrValue.
type SyntaxError struct {
	Word     string   // the word; "" if the line ends where a word is expected
	After    string   // the previous word; "" at the start
	Expected string   // what was expected, the text after "expected" in messages
	Known    []string // the valid names, if a name was expected; nil otherwise
}

// Got describes the word and the one before it, for a message that continues after "got".
func (e *SyntaxError) Got() string {
	switch {
	case e.Word == "" && e.After == "":
		return "nothing"
	case e.Word == "":
		return fmt.Sprintf("nothing after %s", quote(e.After))
	case e.After == "":
		return quote(e.Word)
	}
	return fmt.Sprintf("%s after %s", quote(e.Word), quote(e.After))
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("netem: got %s, expected %s", e.Got(), e.Expected)
}

// Unwrap returns setting.ErrUnknown if a name was expected, otherwise setting.ErrValue.
func (e *SyntaxError) Unwrap() error {
	if len(e.Known) > 0 {
		return setting.ErrUnknown
	}
	return setting.ErrValue
}

// quote quotes a word, shortened to 40 bytes.
func quote(word string) string {
	const maxBytes = 40
	if len(word) > maxBytes {
		word = word[:maxBytes] + "..."
	}
	return fmt.Sprintf("%q", word)
}
