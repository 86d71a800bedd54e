package walkoff

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/table"
	"wirelab/encoders"
	"wirelab/encoders/rows"
)

// A user's table is scored and audited like cubes, with the name of its items.
func TestTable(t *testing.T) {
	schema, records := table.Example()
	dir := t.TempDir()
	spec := "table:" + filepath.Join(dir, "arena.toml") + "," + filepath.Join(dir, "arena.csv")
	for name, content := range map[string][]byte{"arena.toml": schema, "arena.csv": records} {
		noError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	codec := rows.DeltaAdaptive()
	open := func() (dataset.Source, error) { return dataset.Open(t.Context(), spec, dataset.Options{}) }
	board := must(Run(context.Background(), spec, open, []*encoders.Codec{&codec}, Options{Clock: stepClock(), Audit: testProcess}))
	r := board.Results[0]
	if d := board.Dataset; d.Frames != Delay+3 || d.Item != "tank" || d.Items != 3 || d.Cubes != 0 {
		t.Errorf("scored %+v", d)
	}
	if !r.Lossless || r.Audit != auditPass || r.Packets != 3 || r.ChangedItemsPerPacket == 0 || r.Problem != "" {
		t.Errorf("result %+v", r)
	}
	if want := r.BytesPerPacket * 20 * 8 / 1000; r.Kbps < want-0.001 || r.Kbps > want+0.001 {
		t.Errorf("%v kbps, want %v at 20 frames a second", r.Kbps, want)
	}
	text, err := json.Marshal(board)
	if err != nil || strings.Contains(string(text), "cube") {
		t.Errorf("%s, %v: contains cube figures", text, err)
	}
}
