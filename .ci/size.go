// Command size counts the tokens of all Go files that git tracks, outside tests and in tests, and fails if either
// count exceeds its limit in the file .ci/size. Comments and line ends are not tokens, so that formatting and
// documentation do not change the counts.
//
//	go run .ci/size.go
package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"log"
	"os"
	"os/exec"
	"strings"
)

func main() {
	log.SetFlags(0)
	text, err := os.ReadFile(".ci/size")
	check(err)
	var limit, testLimit int
	_, err = fmt.Sscanf(string(text), "tokens %d\nin tests %d\n", &limit, &testLimit)
	check(err)
	list, err := exec.Command("git", "ls-files", "*.go").Output()
	check(err)
	var size, testSize int
	for _, name := range strings.Fields(string(list)) {
		src, err := os.ReadFile(name)
		check(err)
		if strings.HasSuffix(name, "_test.go") {
			testSize += tokens(src)
		} else {
			size += tokens(src)
		}
	}
	fmt.Printf("tokens %d of %d, in tests %d of %d\n", size, limit, testSize, testLimit)
	if size > limit || testSize > testLimit {
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("size: ", err)
	}
}

// tokens returns the number of tokens in a Go file, without the semicolons that the scanner inserts.
func tokens(src []byte) (n int) {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", -1, len(src)), src, nil, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok != token.SEMICOLON || lit != "\n" {
			n++
		}
	}
}
