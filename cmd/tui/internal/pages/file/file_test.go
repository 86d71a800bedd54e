package file

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
)

// TestTransferFigures compares the figures with those of a transfer computed by hand.
func TestTransferFigures(t *testing.T) {
	secs := 2.0
	going := &figures.Transfer{Blocks: 100, Delivered: 25, ElapsedS: 3}
	if left, ok := timeLeft(going); !ok || left != 9 {
		t.Errorf("%g s left, expected 9", left)
	}
	p := &transfer{lanes: []engine.Lane{
		{Encoder: "patch", Totals: figures.Totals{Transfer: &figures.Transfer{Done: true, TimeS: &secs, Blocks: 4, Delivered: 4}}},
		{Encoder: "whole-raw", Totals: figures.Totals{Transfer: &figures.Transfer{Blocks: 7}}},
		{Encoder: "whole-zstd", Totals: figures.Totals{Transfer: going}}}}
	text := ""
	for _, s := range p.verdict(200) {
		text += s.Text
	}
	p.past = true
	p.lanes[0].Totals.Transfer.Encoder = "other"
	if says := p.verdict(200); says[0].Text != "other " {
		t.Errorf("in the past the figures of other are those of %q", says[0].Text)
	}
	if says := p.heading(80); len(says) != 1 || !strings.Contains(says[0].Text, "current figures") {
		t.Errorf("the heading in the past is %v", says)
	}
	p.making = delivery.PatchProgress{Encoder: "other", Done: 1, Total: 4}
	if _, says := p.progress(&p.lanes[0], p.lanes[0].Totals.Transfer); says != "other: computing the patch, 25 %" {
		t.Errorf("the progress of the new encoder is %q", says)
	}
	if _, says := p.progress(&p.lanes[2], going); says != "25 %, 3.00 s, 9.00 s left" {
		t.Errorf("the progress of the shadow is %q", says)
	}
	if want := "patch 2.00 s, whole-zstd takes 12.0 s, 6.0 times as long, over the same link with the same losses"; text != want {
		t.Errorf("verdict %q, expected %q", text, want)
	}
}
