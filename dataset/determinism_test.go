package dataset_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// simulated lists the packages whose results must not depend on the machine.
var simulated = []string{"physics", "world"}

// On some machines Go fuses a product and a sum into one instruction that rounds once; float64(x*y)
// prevents it. In simulations every product of floats must be converted, unless it is constant or a
// factor of another product.
func TestNoFusableProducts(t *testing.T) {
	check := newProductCheck()
	for _, dir := range simulated {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s (%v)", dir, err)
		}
		for _, tags := range [][]string{nil, {"purego"}} { // with vector instructions, and without
			here := build.Default
			here.BuildTags = tags
			var sources []string
			for _, f := range files {
				if built, err := here.MatchFile(dir, filepath.Base(f)); err != nil || !built || strings.HasSuffix(f, "_test.go") {
					continue
				}
				src, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources = append(sources, f, string(src))
			}
			for _, bad := range check.loneProducts(t, sources...) {
				t.Errorf("%s: a product that may fuse with a sum: write float64(...) around it", bad)
			}
		}
	}
}

// The check finds bad products and accepts good ones.
func TestProductCheck(t *testing.T) {
	const bad = `package p
func f(a, b, c float64) float64 { d := a * b; d *= c; d += (a * c); return d }
type v struct{ x float64 }
func (p v) g(k int) float64 { return 1 - p.x*float64(k*2) }`
	if got := newProductCheck().loneProducts(t, "bad.go", bad); len(got) != 4 {
		t.Errorf("found %d lone products in the bad example, expected 4: %v", len(got), got)
	}
	const good = `package p
const two = 2.0
func f(a, b, c float64, n int) float64 { n = n*n + 1; return float64(a*b) + float64(a*b*c) + two*two + a*b/c }`
	if got := newProductCheck().loneProducts(t, "good.go", good); len(got) != 0 {
		t.Errorf("found lone products in the good example: %v", got)
	}
}

// productCheck checks packages. It caches imported packages, since importing them takes most of the
// time.
type productCheck struct {
	fset     *token.FileSet
	importer types.Importer
}

func newProductCheck() productCheck {
	if build.Default.GOROOT == "" { // the test was compiled with -trimpath
		root, _ := exec.Command("go", "env", "GOROOT").Output()
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	fset := token.NewFileSet()
	return productCheck{fset, importer.ForCompiler(fset, "source", nil)}
}

// loneProducts type-checks sources, pairs of a name and a text, as one package and returns the
// positions of products that may be fused.
func (c productCheck) loneProducts(t *testing.T, sources ...string) (found []string) {
	t.Helper()
	var files []*ast.File
	for i := 0; i < len(sources); i += 2 {
		f, err := parser.ParseFile(c.fset, sources[i], sources[i+1], 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: c.importer}
	if _, err := conf.Check(files[0].Name.Name, c.fset, files, info); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		ast.Walk(products{func(n ast.Node) { found = append(found, c.fset.Position(n.Pos()).String()) }, info, false}, f)
	}
	return found
}

// products is a visitor that reports products of floats that are not rounded by a conversion.
type products struct {
	report  func(ast.Node)
	info    *types.Info
	rounded bool // by the expression that contains the node
}

func (v products) Visit(n ast.Node) ast.Visitor {
	inner := v
	inner.rounded = false
	switch e := n.(type) {
	case *ast.ParenExpr:
		inner.rounded = v.rounded
	case *ast.CallExpr:
		inner.rounded = len(e.Args) == 1 && v.info.Types[e.Fun].IsType()
	case *ast.BinaryExpr:
		if (e.Op == token.MUL || e.Op == token.QUO) && v.float(e) {
			if e.Op == token.MUL && !v.rounded {
				v.report(e)
			}
			inner.rounded = true
		}
	case *ast.AssignStmt:
		if e.Tok == token.MUL_ASSIGN && v.float(e.Lhs[0]) {
			v.report(e)
		}
	}
	return inner
}

// float reports whether e is a float that is not a constant.
func (v products) float(e ast.Expr) bool {
	tv := v.info.Types[e]
	if tv.Value != nil || tv.Type == nil {
		return false
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// The golden hashes are equal on other machines: those with fused instructions, and one with
// another word size.
func TestSameOnOtherMachines(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("builds for other machines: under WIRELAB_THOROUGH=1")
	}
	machines := []struct{ name, env, runner string }{
		{"amd64 v3", "GOAMD64=v3", ""},
		{"386", "GOARCH=386", ""},
		{"arm64", "GOARCH=arm64", "qemu-aarch64-static"},
	}
	if !testkit.Long() { // TestNoFusedInstructions looks for fused products without running them
		machines = machines[1:]
	}
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			args := []string{"test", "-vet=off", "-run", "Golden"}
			if m.runner != "" {
				if _, err := exec.LookPath(m.runner); err != nil {
					t.Skipf("%s is not installed", m.runner)
				}
				args = append(args, "-exec", m.runner)
			}
			cmd := exec.Command("go", append(args, "./physics", "./world")...)
			cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", m.env)
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "exec format error") {
				t.Skip("NOT RUN: the kernel here runs no such programs") // 386 without IA32 emulation
			}
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// The code that the compiler generates for a processor with fused instructions contains none.
func TestNoFusedInstructions(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("builds for another machine: under WIRELAB_THOROUGH=1")
	}
	for _, dir := range simulated {
		cmd := exec.Command("go", "build", "-gcflags=-S", "./"+dir)
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOARCH=arm64")
		listing, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, listing)
		}
		if !strings.Contains(string(listing), "FMULD") {
			t.Fatalf("%s: the listing holds no product of floats: the test tests nothing", dir)
		}
		for line := range strings.Lines(string(listing)) {
			for _, fused := range []string{"FMADD", "FMSUB", "FNMADD", "FNMSUB"} {
				if strings.Contains(line, fused) {
					t.Errorf("%s: %s", dir, strings.TrimSpace(line))
				}
			}
		}
	}
}
