// Command types type-checks the module and all its dependencies from source for other systems. That finds
// whatever the compiler reports as a type error, without a build: one target takes 9 s of CPU time, a build 100 s.
//
//	go run .ci/types.go [-tests] GOOS/GOARCH...
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"log"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	tests := flag.Bool("tests", false, "include the tests of the module")
	flag.Parse()
	failed := false
	for _, target := range flag.Args() {
		goos, goarch, _ := strings.Cut(target, "/")
		loaded, err := packages.Load(&packages.Config{
			Mode:  packages.LoadAllSyntax,
			Tests: *tests,
			Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			log.Fatal(err)
		}
		count := 0
		packages.Visit(loaded, nil, func(p *packages.Package) { count++ })
		fmt.Println(target, count, "packages")
		failed = packages.PrintErrors(loaded) > 0 || missingBody(loaded) || failed
	}
	if failed {
		os.Exit(1)
	}
}

// missingBody reports functions without a body in packages that contain no assembly for the target. The type
// checker accepts them; the compiler does not.
func missingBody(loaded []*packages.Package) (found bool) {
	for _, p := range loaded {
		if len(p.OtherFiles) > 0 {
			continue
		}
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
					log.Printf("%s: missing function body", p.Fset.Position(f.Pos()))
					found = true
				}
			}
		}
	}
	return found
}
