package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

// TestCommitText checks what --version says about the commit, with and without the record of a build.
func TestCommitText(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.time", Value: "2026-11-26T15:04:06Z"}, {Key: "vcs.modified", Value: "false"}}
	if got := commitText(settings); got != "commit 0123456789ab of 2026-11-26" {
		t.Error(got)
	}
	settings[3].Value = "true"
	if got := commitText(settings); got != "commit 0123456789ab of 2026-11-26 with local changes" {
		t.Error(got)
	}
	if got := commitText(nil); !strings.HasPrefix(got, "commit unknown: ") {
		t.Error(got)
	}
	if o := tui("--version"); o.code != exitDone || !strings.HasPrefix(o.stdout, "wirelab ") || !strings.Contains(o.stdout, ", commit ") || strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("%+v", o)
	}
}
