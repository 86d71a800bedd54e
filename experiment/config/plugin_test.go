package config

import (
	"testing"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"64MB": 64_000_000, "64mb": 64_000_000, "64 MB": 64_000_000, "64MiB": 64 << 20, "64mib": 64 << 20,
		"1.5GB": 1_500_000_000, "1MB": 1_000_000, "4GB": 4_000_000_000, "4GiB": 4 << 30, "1000kB": 1_000_000, "256MiB": 256 << 20} {
		if n, ok := ParseSize(text); !ok || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, ok, want)
		}
	}
	for _, text := range []string{"", "64", "MB", "64MB junk", "64MBjunk", "64 MB 3", "junk 64MB", "64M", "64Mb/s", "-1MB", "0MB", "999kB", "5GB", "off", "1e3MB"} {
		if n, ok := ParseSize(text); ok {
			t.Errorf("%q is %d, want an error", text, n)
		}
	}
	for _, n := range []int64{64 << 20, 64_000_000, 4 << 30, 1<<20 + 1} {
		if got, ok := ParseSize(formatSize(n)); !ok || got != n {
			t.Errorf("%d is written as %s and read as %d", n, formatSize(n), got)
		}
	}
}
