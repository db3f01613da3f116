package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/stack"
)

// leastNode is the minimum major version of Node that the clients require.
const leastNode = 22

// node contains the directory in which the clients are installed, and the path of the Node program.
type node struct{ dir, bin string }

// install installs the clients of package-lock.json unless they are installed already. It finds a Node program of at least
// version leastNode.
func install(t *testing.T) node {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "test", "clients")
	sum, stamp := sumOfLock(t, dir), filepath.Join(dir, "node_modules", ".installed")
	if was, err := os.ReadFile(stamp); err != nil || string(was) != sum {
		cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm ci, which needs npm from tools/setup.sh node: %v\n%s", err, out)
		}
		if err := os.WriteFile(stamp, []byte(sum), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return node{dir, findNode(t, dir)}
}

// sumOfLock returns a checksum of package.json and package-lock.json in dir.
func sumOfLock(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(raw)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// findNode returns the path of the Node that was installed with the clients, or else of the Node on this machine.
func findNode(t *testing.T, dir string) string {
	t.Helper()
	if own, _ := filepath.Glob(filepath.Join(dir, "node_modules", "node-linux-*", "bin", "node")); len(own) > 0 {
		return own[0]
	}
	bin, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("node is not installed; version %d or newer is required", leastNode)
	}
	out, err := exec.CommandContext(t.Context(), bin, "--version").Output()
	if err != nil {
		t.Fatalf("node --version: %v", err)
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if number, err := strconv.Atoi(major); err != nil || number < leastNode {
		t.Fatalf("the clients require node %d or newer; the installed version is %s", leastNode, version)
	}
	return bin
}
