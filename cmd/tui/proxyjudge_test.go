//go:build unix

package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestProxyJudge runs testdata/proxyjudge.py, which starts proxies and measures loss, duplicates,
// reordering, delay and rate of their links from outside. It is not parallel, so that other tests
// of this package do not delay the datagrams.
func TestProxyJudge(t *testing.T) {
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable, end='')").Output()
	if err != nil {
		t.Skipf("NOT RUN: python3: %v", err)
	}
	program, err := os.Executable() // see TestMain
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), string(python), "testdata/proxyjudge.py", program)
	c.Env = append(os.Environ(), programEnv+"=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("the judge ends with %v:\n%s", err, out)
	}
	t.Logf("%s", out)
}
