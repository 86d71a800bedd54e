package words_test

import (
	"testing"

	"wirelab/internal/words"
)

func TestPlural(t *testing.T) {
	for word, want := range map[string]string{"cube": "cubes", "entity": "entities", "key": "keys"} {
		if got := words.Plural(word); got != want {
			t.Errorf("%q: %q, expected %q", word, got, want)
		}
	}
}
