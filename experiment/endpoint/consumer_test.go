package endpoint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestConsumer builds the example of a game as a program in a module of its own, as encoders/README.md describes. The
// checksums are those of this module, so that the test needs no network.
func TestConsumer(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_game_test.go")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := strings.NewReplacer("package endpoint_test", "package main", "func Example_game()", "func main()").Replace(string(example))
	for name, content := range map[string]string{"go.mod": "module game\n\ngo 1.26.0\n", "go.sum": string(sums), "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	command("go", "mod", "edit", "-require", "wirelab@v0.0.0", "-replace", "wirelab="+root)
	if list := command("go", "list", "-m", "all"); !strings.Contains(list, "wirelab v0.0.0 => "+root) {
		t.Errorf("go list -m all:\n%s", list)
	}
	if doc := command("go", "doc", "wirelab/experiment/endpoint.Sender"); !strings.Contains(doc, "func NewSender(") {
		t.Errorf("go doc:\n%s", doc)
	}
	command("go", "mod", "tidy")
	command("go", "build", "-trimpath", "-o", "game", ".")
	if out := command(filepath.Join(dir, "game")); out != "the tank is at 300 m\n" {
		t.Errorf("the game prints %q", out)
	}
}
