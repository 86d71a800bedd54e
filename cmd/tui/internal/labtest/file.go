package labtest

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
)

// NewFile is a lab that delivers a file: done is the share of the patch that is
// made; from 1 on it is the time of the transfer in seconds, less 1.
func NewFile(done float64) *Lab { return &Lab{Snap: FileSnapshot(done)} }

// matrix is a file in which the second half was moved to the front.
func matrix(done float64) *delivery.Matrix {
	m := &delivery.Matrix{OldSize: 2 << 20, NewSize: 2 << 20, Rows: 96, Cols: 192, Score: make([]uint8, 96*192),
		Chosen: make([]bool, 96*192)}
	m.Done = min(int(96*done), 96)
	for row := range min(m.Done+8, 96) {
		from := (row + 48) % 96
		for col := range 96 {
			away := max(col-from, from-col)
			m.Score[row*m.Cols+col] = uint8(max(0, 255-20*away))
		}
		if row < m.Done {
			m.Chosen[row*m.Cols+from] = true
			if row%12 == 5 {
				m.Chosen[row*m.Cols+96+row/2] = true
			}
		}
	}
	return m
}

// FileSnapshot is the snapshot of NewFile.
func FileSnapshot(done float64) *engine.Snapshot {
	cfg := config.Default()
	if err := cfg.Set("data.source", "files:/builds/game-1.0.pak,/builds/game-1.1.pak"); err != nil {
		panic(err)
	}
	cfg.Encoder.Name = "patch"
	cfg.Shadows = []config.Encoder{{Name: "whole-zstd"}}
	at := max(done-1, 0)
	snap := &engine.Snapshot{Now: time.Duration(at * float64(time.Second)), Speed: 1, Actual: 1, Config: cfg, Item: "byte",
		Schema: &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Every, TickHz: 1000}, Matrix: matrix(done)}
	for i, name := range []string{"patch", "whole-zstd"} {
		packed := []int{93_000, 285_000}[i]
		x := &figures.Transfer{OldBytes: 2 << 20, NewBytes: 2<<20 + 1234}
		l := engine.Lane{Encoder: name}
		if done >= 1 {
			x.PackedBytes, x.Blocks, x.ElapsedS = packed, (packed+1199)/1200, at
			l.Blocks = blocks(x, int(60*at))
			x.RoundTripMS = 101
			x.Done = x.Delivered == x.Blocks
			if x.Done {
				secs := float64(x.Blocks) / 54
				x.TimeS, x.ElapsedS = &secs, secs
			}
			x.Rounds = []figures.Round{{Encoder: name, StartS: 0.5 * float64(i), TimeS: 1.52 + 3*float64(i), Done: true,
				PackedBytes: packed, Blocks: x.Blocks, Resent: 7}}
		}
		l.Totals = figures.Totals{Counts: figures.Counts{Sent: int64(60 * at)}, Transfer: x}
		snap.Lanes = append(snap.Lanes, l)
	}
	if done < 1 {
		snap.Making = &delivery.Making{Encoder: "patch", Done: int64(done * (2 << 20)), Total: 2 << 20}
	}
	return snap
}

// blocks makes the states of blocks of which so many were sent, every seventh of
// them in vain at first.
func blocks(x *figures.Transfer, sent int) []delivery.BlockState {
	list := make([]delivery.BlockState, x.Blocks)
	for i := range list {
		switch {
		case i >= sent:
			continue
		case i%7 == 3 && i+12 > sent:
			list[i] = delivery.BlockAgain
		case i+5 > sent && sent < len(list):
			list[i] = delivery.BlockUnderWay
		case i%7 == 3:
			list[i] = delivery.BlockLate
			x.Resent++
		default:
			list[i] = delivery.BlockDelivered
		}
		if list[i] >= delivery.BlockDelivered {
			x.Delivered++
		}
	}
	return list
}
