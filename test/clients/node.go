package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// leastNode is the version of Node that the clients need.
const leastNode = 22

// node is where the clients are installed, and what runs them.
type node struct{ dir, bin string }

// install fetches the clients of the lock file, unless they are there, and finds a
// Node that is new enough.
func install(ctx context.Context, dir string) (node, error) {
	n := node{dir: dir}
	mark, err := lockMark(dir)
	if err != nil {
		return n, err
	}
	stamp := filepath.Join(dir, "node_modules", ".installed")
	if was, err := os.ReadFile(stamp); err != nil || string(was) != mark {
		if err := fetch(ctx, dir); err != nil {
			return n, err
		}
		if err := os.WriteFile(stamp, []byte(mark), 0o644); err != nil {
			return n, err
		}
	}
	n.bin, err = findNode(ctx, dir)
	return n, err
}

// lockMark tells one set of packages from another.
func lockMark(dir string) (string, error) {
	sum := sha256.New()
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		sum.Write(raw)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func fetch(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm is missing; type: sudo apt-get install -y nodejs npm")
	}
	fmt.Println("fetching the clients from npm (once)")
	began := time.Now()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, bytes.TrimSpace(out))
	}
	fmt.Printf("fetched in %.1f s\n", time.Since(began).Seconds())
	return nil
}

// findNode takes the one that came with the clients, else that of the machine.
func findNode(ctx context.Context, dir string) (string, error) {
	if own, _ := filepath.Glob(filepath.Join(dir, "node_modules", "node-linux-*", "bin", "node")); len(own) > 0 {
		return own[0], nil
	}
	bin, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("node %d or newer is missing", leastNode)
	}
	out, err := exec.CommandContext(ctx, bin, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("node --version: %w", err)
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if number, err := strconv.Atoi(major); err != nil || number < leastNode {
		return "", fmt.Errorf("node %d or newer is needed, this is %s", leastNode, version)
	}
	return bin, nil
}

// run runs one client as a person of its own and gives the number of its checks.
func run(ctx context.Context, n node, w *world, c script) (int, error) {
	env, err := w.person(ctx, c.name)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	fmt.Println(c.name)
	began := time.Now()
	cmd := exec.CommandContext(ctx, n.bin, c.name+".mjs")
	cmd.Dir = n.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(n.bin)+string(filepath.ListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	said, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	checks := count(said)
	if err := cmd.Wait(); err != nil {
		return checks, errors.Join(err, ctx.Err())
	}
	if checks < c.least {
		return checks, fmt.Errorf("%d checks, at least %d were expected", checks, c.least)
	}
	fmt.Printf("  %d checks, %.1f s\n", checks, time.Since(began).Seconds())
	return checks, nil
}

// count shows what a client says and counts what it found good.
func count(said io.Reader) int {
	checks := 0
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Println("  " + lines.Text())
		if strings.HasPrefix(lines.Text(), "ok ") {
			checks++
		}
	}
	return checks
}
