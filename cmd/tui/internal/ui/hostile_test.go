package ui

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/engine"
	"wirelab/internal/testkit"
)

// TestHostileNames shows hostile names on every page and in the lists: names of data, fields, encoders, shadows,
// marks, saved reports and their folders, addresses, remarks, notices and errors. No screen contains a control
// character or a further line.
func TestHostileNames(t *testing.T) {
	const w, h = 200, 60
	for first, text := range testkit.HostileTexts {
		next := func(n int) string { return testkit.HostileTexts[(first+n)%len(testkit.HostileTexts)] }
		lab := labtest.NewCalls()
		snap := lab.Snap
		snap.Item, snap.To, snap.Remarks, snap.Err = next(1), next(2), []string{next(3)}, errors.New(text)
		snap.Notice = engine.Notice{ID: 1, Text: text, Bad: true}
		testkit.FillHostile(snap.Schema, first)
		testkit.FillHostile(&snap.Config.Data, first)
		for i := range snap.Marks {
			snap.Marks[i].Label = next(i)
		}
		shadow := snap.Lanes[0]
		snap.Lanes = append(snap.Lanes, shadow)
		for i := range snap.Lanes {
			lane := &snap.Lanes[i]
			lane.Encoder, lane.Params, lane.Err = next(i), next(i+1), errors.New(next(i+2))
			for j := range lane.Packets {
				lane.Packets[j].Encoder = next(j)
			}
		}
		snap.Config.Encoder.Name = text

		reports := labtest.WriteReports(t)
		file := filepath.Join(reports, strings.ReplaceAll(text, "/", "_"), "report.json") // a name contains no slash
		if err := os.Mkdir(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		saved := `{"version":2,"digest_version":7,"config":{"encoder":{"name":` + strconv.QuoteToASCII(strings.ToValidUTF8(text, "")) + `}},"seed":7,"item":"x","totals":{},"error":"\u001b[2J\nFORGED"}`
		saved = strings.NewReplacer(`\x7f`, `\u007f`, `\a`, `\u0007`, `\x1b`, `\u001b`).Replace(saved)
		if err := os.WriteFile(file, []byte(saved), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, keys := range []string{"", "?", "e", "p", "x", "2", "3", "3 up enter", "4", "5", "5 enter", "/ mark space text enter", "/ text enter"} {
			m := screen(lab, w, h, Options{ReportsDir: reports})
			for _, key := range strings.Fields(keys) {
				pressOnce(m, strings.ReplaceAll(key, "text", text))
			}
			testkit.CheckScreen(t, keys, m.View(), h)
		}
		for _, keys := range []string{"", "down enter", "tab down down enter", "enter"} {
			m := reportScreen(lab, w, h, Options{ReportsDir: reports}, keys)
			testkit.CheckScreen(t, "reports "+keys, m.View(), h)
		}
	}
}
