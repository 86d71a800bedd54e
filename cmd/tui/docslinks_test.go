package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeLinks checks that every link from a README to a file of the project leads to an
// existing file and, if it has an anchor, to an existing heading.
func TestReadmeLinks(t *testing.T) {
	all, count := readmes(t), 0
	for name, text := range all {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(outsideBlocks(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			count++
			file, heading, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: %s leads nowhere", name, m[1])
			} else if heading != "" && !headings(all[to])[heading] {
				t.Errorf("%s: %s has no such heading", name, m[1])
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d links found", count)
	}
}

// outsideBlocks removes the fenced blocks from a text.
func outsideBlocks(text string) string {
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
}

// headings returns the anchors of the headings of a text, as GitHub generates them.
func headings(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(outsideBlocks(text), -1) {
		words := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchors[strings.ReplaceAll(words, " ", "-")] = true
	}
	return anchors
}
