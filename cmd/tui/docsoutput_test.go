package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirelab/encoders/rotation"
	"wirelab/internal/golden"
	"wirelab/internal/testkit"
)

// TestQuotedOutput runs each call of tui whose output a README quotes, and compares the output except for times. With -update
// it writes the READMEs; .ci/figures runs it with all calls. The calls with --all take minutes: they are a long check.
func TestQuotedOutput(t *testing.T) {
	block := regexp.MustCompile("(?m)^```\n\\$ tui (.*)\n((?:.*\n)*?)```$")
	quotes := 0
	for name, text := range readmes(t) {
		written := block.ReplaceAllStringFunc(text, func(quote string) string {
			quotes++
			m := block.FindStringSubmatch(quote)
			if strings.Contains(m[1], "--all") && !testkit.Long() {
				return quote
			}
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), strings.NewReader(""), &stdout, &stderr, strings.Fields(m[1])); code != exitDone {
				t.Fatalf("%s: exit %d, %s", m[1], code, stderr.String())
			}
			if withoutTimes(stdout.String()) == withoutTimes(m[2]) {
				return quote
			}
			if !golden.IsUpdating() {
				t.Errorf("%s quotes of tui %s\n%s\nbut it prints\n%s\n.ci/figures -update writes it", name, m[1], m[2], stdout.String())
			}
			return "```\n$ tui " + m[1] + "\n" + stdout.String() + "```"
		})
		if golden.IsUpdating() && written != text {
			write(t, filepath.Join(root, name), written)
		}
	}
	if quotes < 3 {
		t.Errorf("only %d quotes found", quotes)
	}
}

// withoutTimes returns the output of a command without times, which differ from run to run, and with single spaces, because
// the width of a column of times differs too.
func withoutTimes(output string) string {
	for pattern, replacement := range map[string]string{
		`(?m)^times .*\n`:                                     "",
		`, (\d+ settings) in \d+ ms`:                          ", $1",
		`(?m)^(\S+(?: +[\d.]+){4}) +[\d.]+ +[\d.]+ +(yes|no)`: "$1 $2", // a row of walkoff: two columns of times
		` +`: " ",
	} {
		output = regexp.MustCompile(pattern).ReplaceAllString(output, replacement)
	}
	return output
}

// dataset/README.md names the angle by which half a step tilts a cube without rotation.
func TestHalfStep(t *testing.T) {
	grid := rotation.SmallestThree{Scale: 511 / math.Sqrt2, Zero: 255.5}
	w := float64(grid.Decode(3, []int32{256, 256, 256})[3])
	angle := fmt.Sprintf("tilted by %.3f degrees", 2*math.Acos(w)*180/math.Pi)
	if !strings.Contains(readme(t, "dataset/README.md"), angle) {
		t.Errorf("dataset/README.md does not say %q", angle)
	}
}
