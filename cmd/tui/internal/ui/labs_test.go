package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/experiment/live"
)

// newRemote returns a lab whose receiver is on another machine.
func newRemote() *labtest.Lab {
	lab := labtest.NewLab()
	lab.Snap.To = "192.0.2.7:27970"
	lane := &lab.Snap.Lanes[0]
	lane.Link, lane.Incidents = nil, nil
	t := &lane.Totals
	t.Unknown, t.Lost = t.Lost, 0
	t.Network.DelayMS, t.Network.MeanBurst, t.AgeMS = figures.Quantiles{}, figures.Figure{}, figures.Quantiles{}
	t.Remote = &figures.Remote{RoundTripMS: figures.Quantiles{N: 1, P50: 84.9, P95: 103.2}, SlowerMS: figures.Quantiles{N: 1, P50: 4.1, P95: 20.7},
		JitterMS: figures.Known(9.2), ReportedAfterMS: figures.Quantiles{N: 1, P50: 117.8, P95: 190}, ReportKbps: figures.Known(25.6),
		CoverKbps: figures.Known(28.3)}
	for i := range lane.Packets {
		if p := &lane.Packets[i]; p.Outcome == packetlog.Lost {
			p.Outcome, p.Arrived = packetlog.Unknown, 0
		}
	}
	return lab
}

// newFile returns a lab that sends a file. For done below 1, that share of the patch is made;
// from 1 on, done-1 is the time of the transfer in seconds.
func newFile(done float64) *labtest.Lab { return &labtest.Lab{Snap: fileSnapshot(done)} }

// fileSnapshot returns the snapshot of newFile.
func fileSnapshot(done float64) *engine.Snapshot {
	cfg := config.Default()
	if err := cfg.Set("data.source", "files:/builds/game-1.0.pak,/builds/game-1.1.pak"); err != nil {
		panic(err)
	}
	cfg.Encoder.Name = "patch"
	cfg.Shadows = []config.Encoder{{Name: "whole-zstd"}}
	at := max(done-1, 0)
	snap := &engine.Snapshot{Now: time.Duration(at * float64(time.Second)), Pace: engine.Pace{Speed: 1, Actual: 1}, Config: cfg, Item: "byte",
		Schema: &frame.Schema{Name: "files", Item: "byte", Delivery: frame.Reliable, TickHz: 1000}}
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
		snap.Patch = &delivery.PatchProgress{Encoder: "patch", Done: int64(done * (2 << 20)), Total: 2 << 20}
	}
	return snap
}

// blocks returns the states of blocks after n were sent; the first transmission of every seventh
// was lost.
func blocks(x *figures.Transfer, sent int) []delivery.BlockState {
	list := make([]delivery.BlockState, x.Blocks)
	for i := range list {
		switch {
		case i >= sent:
			continue
		case i%7 == 3 && i+12 > sent:
			list[i] = delivery.BlockResent
		case i+5 > sent && sent < len(list):
			list[i] = delivery.BlockInFlight
		case i%7 == 3:
			list[i] = delivery.BlockRecovered
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

// spell formats commands as text for comparison.
func spell(commands []live.Command) string {
	var parts []string
	for _, c := range commands {
		switch {
		case c.Change != nil:
			text := c.Change.Label()
			if params := c.Change.Params(); len(params) > 0 {
				b, _ := json.Marshal(params)
				text = "params " + string(b)
			}
			parts = append(parts, text)
		case c.Undo:
			parts = append(parts, "undo")
		case c.Redo:
			parts = append(parts, "redo")
		case c.Pause != nil:
			parts = append(parts, fmt.Sprint("pause ", *c.Pause))
		case c.Toggle:
			parts = append(parts, "toggle")
		case c.Step > 0:
			parts = append(parts, fmt.Sprint("step ", c.Step))
		case c.Speed != nil:
			parts = append(parts, fmt.Sprint("speed ", *c.Speed))
		case c.Seek != nil:
			parts = append(parts, fmt.Sprint("seek ", *c.Seek))
		case c.Save != nil:
			parts = append(parts, "save "+*c.Save)
		}
	}
	return strings.Join(parts, "; ")
}

// tuned returns a session with two shadows that are the active encoder with other parameters.
func tuned() *engine.Snapshot {
	return labtest.Shadows(90*time.Second, "relative-orientation orientation_small=3", "rotor", "relative-orientation orientation_small=4 gear_bits=2")
}

// newHalfWorld is labtest.NewWorld with one cube of the sender and none of the receiver.
func newHalfWorld() *labtest.Lab {
	lab := labtest.NewWorld()
	w := lab.Snap.World
	w.Sent, w.Shown, w.Error = w.Sent[:1], nil, nil
	return lab
}
