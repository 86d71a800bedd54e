package netem

import (
	"fmt"

	"wirelab/internal/setting"
)

// SyntaxError is a word of a line that Parse cannot read. It wraps setting.ErrUnknown
// if the word should have been a name, otherwise setting.ErrValue.
type SyntaxError struct {
	Word     string   // "" if the line ends where a word was expected
	After    string   // the word before, "" at the start
	Expected string   // reads on after "expected"
	Known    []string // the names that would have done, if one was not known
}

// Got names the word for a sentence that begins with "got".
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

// Error puts it in one sentence.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("netem: got %s, expected %s", e.Got(), e.Expected)
}

// Unwrap implements the errors package's interface.
func (e *SyntaxError) Unwrap() error {
	if len(e.Known) > 0 {
		return setting.ErrUnknown
	}
	return setting.ErrValue
}

// quote quotes a word and cuts it to a sensible length.
func quote(word string) string {
	const most = 40
	if len(word) > most {
		word = word[:most] + "..."
	}
	return fmt.Sprintf("%q", word)
}
