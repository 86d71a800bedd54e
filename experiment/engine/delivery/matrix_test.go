package delivery

import (
	"testing"

	"wirelab/encoders/patch"
)

// The matrix shows from where the parts of a file were copied: moved parts are off the diagonal,
// and new parts have no score.
func TestMatrix(t *testing.T) {
	x := NewMatrixMaker(1<<20, 1<<20)
	x.addCorrelation(patch.Correlation{Start: 0, End: 1 << 18, OldSize: 1 << 20, Cell: 1 << 15,
		Score: []int32{0, 0, 0, 0, 0, 0, 0, 0, 1 << 15}})
	x.addSegment(patch.Segment{Start: 0, End: 1 << 18, Mode: patch.Patched, Copies: []patch.Copy{{At: 0, From: 1 << 18, N: 1 << 18}}})
	m := x.View()
	if m.OldCols() != matrixCols/2 || m.Done != matrixRows/4 {
		t.Fatalf("%d columns of the old file, %d finished rows", m.OldCols(), m.Done)
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
	if x.View() != m {
		t.Error("a picture that did not change was copied")
	}
}
