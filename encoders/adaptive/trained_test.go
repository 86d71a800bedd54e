package adaptive

import (
	"flag"
	"os"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "learn the embedded table anew")

// trainingText is the book that the embedded table was learnt from.
const trainingText = "../../../shared/data/text/train.txt"

// The embedded table is what its book teaches.
func TestTrained(t *testing.T) {
	text, err := os.ReadFile(trainingText)
	if err != nil {
		t.Skipf("the book is not there: %v", err)
	}
	got, err := train(text)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("trained.tab", got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	learnt, err := readTables(got) // what is deflated may differ from one version of Go to another
	if err != nil || !reflect.DeepEqual(learnt, trained()) {
		t.Errorf("the book teaches other tables, in %d bytes, than the %d that are embedded; error %v", len(got), len(trainedTable), err)
	}
}
