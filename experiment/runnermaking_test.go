package experiment

import (
	"context"
	"testing"
	"time"

	"wirelab/dataset/frame"
	patches "wirelab/encoders/patch"
)

// A live session waits for its patch and can be looked at, asked and left meanwhile;
// then it delivers again and again, and what it saves can be replayed.
func TestRunnerMakesPatch(t *testing.T) {
	c, err := parcelFiles(t, newParcel(100_000, 2))
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRunner(c, RunnerOptions{Clock: wall(), Reports: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(context.Background())
	fast := 64.0
	r.Do(Command{Speed: &fast})
	r.Do(Command{Change: &Change{Down: map[string]string{"loss": "10%"}}})
	for {
		time.Sleep(time.Millisecond)
		snap := r.Snapshot()
		if snap.Making != nil {
			if snap.Now != 0 || snap.Making.Done > snap.Making.Total || len(snap.Log) > 0 {
				t.Fatalf("at %v, with %d changes: %+v", snap.Now, len(snap.Log), snap.Making)
			}
		}
		if x := snap.Lanes[0].Totals.Transfer; x != nil && len(x.Rounds) > 0 {
			break
		}
		if snap.Err != nil {
			t.Fatal(snap.Err)
		}
	}
	r.Stop()
	snap := r.Snapshot()
	if snap.Matrix == nil || snap.Matrix.Told != matrixRows || len(snap.Log) != 1 {
		t.Errorf("matrix %v, changes %v", snap.Matrix != nil, snap.Log)
	}
	path, err := r.Save("")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Replay(context.Background(), path, RunOptions{}); err != nil || !again.Same {
		t.Errorf("replayed: %+v, %v", again, err)
	}
}

// The picture shows where a file was taken from: what moved lies beside the diagonal,
// and what is nowhere is dark.
func TestMatrix(t *testing.T) {
	file := &frame.Frame{Body: make([]byte, 1<<20)}
	x := newMatrixMaker(&pair{old: file, new: file})
	x.correlated(patches.Correlation{Start: 0, End: 1 << 18, OldSize: 1 << 20, Cell: 1 << 15, Score: []int32{0, 0, 0, 0, 0, 0, 0, 0, 1 << 15}})
	x.told(patches.Segment{Start: 0, End: 1 << 18, Mode: patches.Patched, Copies: []patches.Copy{{At: 0, From: 1 << 18, N: 1 << 18}}})
	m := x.view()
	if m.OldCols() != matrixCols/2 || m.Told != matrixRows/4 {
		t.Fatalf("%d columns of the old file, %d rows told", m.OldCols(), m.Told)
	}
	for row := range m.Rows {
		for col := range m.Cols {
			at := row*m.Cols + col
			hit := row < m.Rows/4 && col >= 24 && col < 27 // cell 8 of 64 columns of 3
			if (m.Score[at] == 255) != hit {
				t.Fatalf("row %d, column %d: score %d", row, col, m.Score[at])
			}
			if m.Chosen[at] && (row >= m.Rows/4 || col != 24+row && col != 23+row && col != 25+row) {
				t.Fatalf("row %d, column %d is chosen", row, col)
			}
		}
	}
	for row := range m.Rows / 4 {
		if !m.Chosen[row*m.Cols+24+row] {
			t.Errorf("nothing is chosen in row %d", row)
		}
	}
	if x.view() != m {
		t.Error("a picture that did not change was copied")
	}
}
